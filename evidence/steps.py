"""The steps of most evidence: `run`, `record` and `page`."""
import click

from evidence import records


def group(about, data, measure, write, options=(), of_run=(),
          like=records.versions_of):
    """Returns a command with the three steps.

    # Arguments
        about: the text of its help.
        data: the name of its file in docs/data/.
        measure: measures, prints and returns records; called with the options.
        write: writes the page; called with the records of the file.
        options: a list of `click.Option`s of `run` and `record`.
        of_run: those of `run` alone.
        like: see `records.enter`.
    """
    def page():
        write(records.read(data))

    def record(**chosen):
        records.enter(data, measure(**chosen), like)
        page()

    return click.Group(help=about, commands=[
        click.Command('run', callback=measure, params=list(options) + list(of_run),
                      help='Measure and print.'),
        click.Command('record', callback=record, params=list(options),
                      help='Measure, enter the result into the data, write the '
                           'page.'),
        click.Command('page', callback=page,
                      help='Write the page from the data alone.')])
