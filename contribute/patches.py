"""The patches of this project, and how they are applied."""
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
    """The releases of Keras that there are patches for."""
    return sorted(name for name in os.listdir(FOLDER) if patches_of(name))


def patches_of(release):
    """The patches of a release.

    For Keras 2 in the order in which they apply: the first is the pull request, the
    others follow it up. Those for Keras 3 are a pull request each: every one is for
    the release as it is.

    # Arguments
        release: A string such as `'2.2.4'`.

    # Returns
        A list of named tuples: `path` of the patch, `file` that it changes, ids that
        git gives to the content of that file `before` and `after`, and the number of
        lines `added` and `removed`. Empty if there are none for this release.
    """
    pattern = os.path.join(FOLDER, str(release), '*.patch')
    return [_read(path) for path in sorted(glob.glob(pattern))]


def name_of(patch):
    """What a patch is called, e.g. `'0001-one-mask-per-output'`."""
    return os.path.basename(patch.path)[:-len('.patch')]


def apply_patch(patch, directory):
    """Applies a patch to the files in `directory`.

    git cannot tell whether a hunk without context is at its place, so the content of
    the file has to be the one that the patch was made for.

    # Raises
        ValueError: If it is not, or git refuses the patch. Nothing is changed then.
    """
    path = os.path.join(directory, *patch.file.split('/'))
    with open(path, 'rb') as stream:
        if blob_id(stream.read()) != patch.before:
            raise ValueError('{} is not the file that {} is for.'.format(
                path, os.path.basename(patch.path)))
    # Within a repository, git would leave out what is not under `directory`.
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
    """What a patch without context changes.

    # Returns
        A list of triples: the index of the first line that goes, or of the line
        before which something is put; how many lines go; the lines that come.
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
    """The id that git gives to the content of a file."""
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
