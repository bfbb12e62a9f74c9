"""The command `python -m evidence`, from the root of a checkout."""
import importlib

import click

ABOUT = {
    'random-models': 'Random models, cloned by released Keras and by the overlay.',
    'real-models': 'Models of other packages, cloned by both as well.',
    'matrix': 'The tests, in each environment of tox.ini.',
    'costs': 'What cloning costs, compared with building and loading a model.',
    'startup': 'How much longer an interpreter takes to start with the overlay.',
    'table': 'The symptoms and the results: the gallery, cloned in every way.',
    'other-fixes': "Other fixes, judged by the pull request's tests.",
    'pictures': 'The pictures of models and clones.',
    'own-tests': "Keras's own tests, with the overlay and without.",
}


class Evidence(click.Group):
    """Imports a command only when it is called: they need different packages."""

    def list_commands(self, context):
        return list(ABOUT)

    def get_command(self, context, name):
        if name not in ABOUT:
            return None
        module = importlib.import_module('evidence.' + name.replace('-', '_'))
        return module.command

    def format_commands(self, context, formatter):
        with formatter.section('Names'):
            formatter.write_dl(list(ABOUT.items()))


@click.command(cls=Evidence, subcommand_metavar='NAME run|record|page [OPTIONS]',
               context_settings={'help_option_names': ['-h', '--help']})
def main():
    """Measure what the docs report.

    `run` measures and prints. `record` measures, adds the result to docs/data/ and
    writes the page. `page` writes the page from the recorded data. Not every NAME
    has all three: see `python -m evidence NAME --help`.
    """


if __name__ == '__main__':
    main(prog_name='python -m evidence')
