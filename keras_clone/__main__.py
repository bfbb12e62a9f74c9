"""Runs the command `keras-clone`: `python -m keras_clone`."""
import sys


def main():
    """Runs the command; without what it needs, says what to install."""
    try:
        from .check.commands import main as command
    except ImportError as error:
        package = error.name.split('.')[0]
        if package not in ('click', 'rich'):
            raise
        sys.stderr.write(f'Error: keras-clone needs {package} for its commands. '
                         'Install it with: pip install "keras-clone[commands]"\n')
        sys.exit(2)
    command(prog_name='keras-clone')


if __name__ == '__main__':
    main()
