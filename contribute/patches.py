"""Reads and applies the patches of this project."""
import collections
import glob
import hashlib
import os
import re
import subprocess

Patch = collections.namedtuple('Patch', 'path file before after added removed')


ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, 'patches')


def releases():
    """The releases of Keras for which there are patches."""
    return sorted(name for name in os.listdir(FOLDER) if patches_of(name))


def patches_of(release):
    """The patches of a release.

    Those for Keras 2 apply one after the other: the first is the pull request, the
    others are its follow-ups. Those for Keras 3 are one pull request each: every
    patch applies to the unchanged release.

    # Arguments
        release: A string such as `'2.2.4'`.

    # Returns
        A list of named tuples: `path` of the patch, `file` that it changes, the git
        blob ids of that file `before` and `after`, and the number of lines `added`
        and `removed`. Empty if there are no patches for this release.
    """
    pattern = os.path.join(FOLDER, str(release), '*.patch')
    return [_read(path) for path in sorted(glob.glob(pattern))]


def name_of(patch):
    """The name of a patch, e.g. `'0001-one-mask-per-output'`."""
    return os.path.basename(patch.path)[:-len('.patch')]


def apply_patch(patch, directory):
    """Applies a patch to the files in `directory`.

    git cannot check the position of a hunk without context, so the content of the
    file has to be exactly the one that the patch is for.

    # Raises
        ValueError: If it is not, or if git refuses the patch. Nothing is changed
            then.
    """
    path = os.path.join(directory, *patch.file.split('/'))
    with open(path, 'rb') as stream:
        if blob_id(stream.read()) != patch.before:
            raise ValueError('{} is not the file that {} is for.'.format(
                path, os.path.basename(patch.path)))
    # If `directory` is inside a repository, git would silently skip the patch.
    environment = dict(os.environ, GIT_CEILING_DIRECTORIES=os.path.dirname(
        os.path.realpath(directory)))
    for options in (['--check'], []):
        process = subprocess.Popen(
            ['git', 'apply', '--unidiff-zero'] + options + [patch.path],
            cwd=directory, env=environment, stderr=subprocess.PIPE)
        errors = process.communicate()[1].decode()
        if process.returncode:
            raise ValueError(errors)


def hunks_of(patch):
    """Parses a patch without context lines.

    # Returns
        A list of triples: the index of the first line that is removed, or before
        which lines are inserted; the number of removed lines; the inserted lines.
    """
    with open(patch.path) as stream:
        parts = re.split(r'^@@ -(\d+)(?:,(\d+))? [^@]*@@\n', stream.read(),
                         flags=re.MULTILINE)
    hunks = []
    for start, count, text in zip(parts[1::3], parts[2::3], parts[3::3]):
        count = int(count or 1)
        added = [line[1:] for line in text.splitlines(True) if line[0] == '+']
        hunks.append((int(start) - (count > 0), count, added))
    return hunks


def blob_id(content):
    """The git blob id of the content of a file."""
    return hashlib.sha1(b'blob %d\0' % len(content) + content).hexdigest()


def _read(path):
    with open(path) as stream:
        text = stream.read()
    file, before, after = re.search(
        r'^index (\w{40})\.\.(\w{40}) \d+\n--- a/(.+)$', text, re.MULTILINE).group(
            3, 1, 2)
    hunks = text[text.index('\n@@'):]
    return Patch(path, file, before, after, added=hunks.count('\n+'),
                 removed=hunks.count('\n-'))
