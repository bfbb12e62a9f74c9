"""The commands `python -m contribute export` and `python -m contribute prove`."""
import click

from contribute import prove as proving
from contribute.export import export


@click.group(context_settings={'help_option_names': ['-h', '--help']})
def main():
    """Prepare pull requests to Keras, from a checkout of this project."""


@main.command(add_help_option=False,
              context_settings={'ignore_unknown_options': True})
@click.argument('arguments', nargs=-1, type=click.UNPROCESSED)
def prove(arguments):
    """Prove the patches for the installed Keras release."""
    # The proof must also run without click: `python -m contribute.prove`.
    proving.main(arguments)


main.add_command(export)

if __name__ == '__main__':
    main(prog_name='python -m contribute')
