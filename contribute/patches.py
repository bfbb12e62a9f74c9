"""Reads and applies the patches of this project."""
import collections
import glob
import hashlib
import os
import re
import subprocess
import tempfile

# What a patch does to one file.
Part = collections.namedtuple('Part', 'file before after hunks')


class Patch(collections.namedtuple('Patch', 'path parts added removed')):
    """A patch; those for Keras 2 change one file and have only one part."""

    @property
    def file(self):
        return self._part.file

    @property
    def before(self):
        return self._part.before

    @property
    def after(self):
        return self._part.after

    @property
    def _part(self):
        part, = self.parts
        return part


ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, 'patches')


def releases():
    """The releases of Keras for which there are patches."""
    return sorted(name for name in os.listdir(FOLDER) if patches_of(name))


def newest_release():
    """The newest release of Keras for which there are patches."""
    return max(releases(), key=numbers_of)


def numbers_of(release):
    """The numbers of a release, e.g. `(3, 15, 1)`; they compare as releases do."""
    return tuple(map(int, release.split('.')))


def patches_of(release):
    """The patches of a release.

    Those for Keras 2 apply one after the other: the first is the pull request, the
    others are its follow-ups. Those for Keras 3 are one pull request each: every
    patch applies to the unchanged release.

    # Arguments
        release: A string such as `'2.2.4'`.

    # Returns
        A list of named tuples: `path` of the patch, its `parts`, and the number of
        lines `added` and `removed`. A part has the name of the `file` that it
        changes, the git blob ids of that file `before` and `after`, and its `hunks`:
        triples of the index of the first line that is removed, or before which lines
        are inserted; the number of removed lines; the inserted lines. Empty if there
        are no patches for this release.
    """
    pattern = os.path.join(FOLDER, str(release), '*.patch')
    return [_read(path) for path in sorted(glob.glob(pattern))]


def name_of(patch):
    """The name of a patch, e.g. `'0001-one-mask-per-output'`."""
    return os.path.basename(patch.path)[:-len('.patch')]


def release_of(patch):
    """The release that a patch is for."""
    return os.path.basename(os.path.dirname(patch.path))


def apply_patch(patch, directory):
    """Applies a patch to the files in `directory`.

    git cannot check the position of a hunk without context, so the content of each
    file has to be exactly the one that the patch is for.

    # Raises
        ValueError: If it is not, or if git refuses the patch. Nothing is changed
            then.
    """
    for part in patch.parts:
        path = os.path.join(directory, *part.file.split('/'))
        with open(path, 'rb') as stream:
            if blob_id(stream.read()) != part.before:
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


def parts_for(file, patches):
    """The parts of patches that change a file."""
    return [part for patch in patches for part in patch.parts if part.file == file]


def with_parts(parts, content):
    """Applies parts of patches that were all made for the same content of a file.

    A change that several of them make is made once, as if they were merged.

    # Returns
        Bytes, the changed content.

    # Raises
        ValueError: If `content` is not the one that the parts are for.
    """
    hunks = []
    for order, part in enumerate(parts):
        if blob_id(content) != part.before:
            raise ValueError(f'This is not the {part.file} that the patch is for.')
        hunks += [(start, count, order, lines) for start, count, lines in part.hunks
                  if not any(part.hunks.count((start, count, lines))
                             for part in parts[:order])]
    text = content.decode('utf-8').splitlines(True)
    for start, count, _, lines in sorted(hunks, reverse=True):
        text[start:start + count] = lines
    return ''.join(text).encode('utf-8')


def merge(current, released, changed):
    """Makes the changes of one file to another version of it.

    The place of each change is found by the lines around it. These must be the same
    in the other version.

    # Arguments
        current: Bytes, the version to change.
        released: Bytes, the file before the changes.
        changed: Bytes, the file after them.

    # Returns
        Bytes, the changed version. It equals `current` if that has the changes.

    # Raises
        ValueError: If the other version differs where the file was changed.
    """
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ('current', 'from', 'to')]
        for path, content in zip(paths, (current, released, changed)):
            with open(path, 'wb') as stream:
                stream.write(content)
        process = subprocess.Popen(['git', 'merge-file', '-p'] + paths,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        merged, errors = process.communicate()
    if process.returncode > 127:  # Otherwise it is the number of conflicts.
        raise RuntimeError(errors.decode())
    if process.returncode:
        raise ValueError('The changed lines differ.')
    return merged


def blob_id(content):
    """The git blob id of the content of a file."""
    return hashlib.sha1(b'blob %d\0' % len(content) + content).hexdigest()


def _read(path):
    with open(path, encoding='utf-8') as stream:
        text = stream.read()
    parts = list(map(_part, sections_of(text)))
    hunks = [hunk for part in parts for hunk in part.hunks]
    return Patch(path, parts, added=sum(len(lines) for _, _, lines in hunks),
                 removed=sum(count for _, count, _ in hunks))


def sections_of(text):
    """Returns the sections of a patch: a list with the text for each file."""
    return re.findall(r'^diff --git .*?(?=^diff --git |\Z)', text,
                      flags=re.DOTALL | re.MULTILINE)


def _part(section):
    before, after, file = re.search(
        r'^index (\w{40})\.\.(\w{40}) \d+\n--- a/(.+)$', section,
        re.MULTILINE).groups()
    return Part(file, before, after, _hunks(section))


def _hunks(section):
    hunks = []
    pieces = re.split(r'^@@ -(\d+)(?:,(\d+))? [^@]*@@\n', section,
                      flags=re.MULTILINE)
    for start, count, text in zip(pieces[1::3], pieces[2::3], pieces[3::3]):
        count = int(count or 1)
        added = [line[1:] for line in text.splitlines(True) if line[0] == '+']
        hunks.append((int(start) - (count > 0), count, added))
    return hunks
