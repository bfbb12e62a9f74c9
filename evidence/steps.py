"""The subcommands of most kinds of evidence: `run`, `record` and `page`."""
import click

from evidence import records


def group(about, data, measure, write, options=(), of_run=(),
          like=records.versions_of):
    """Returns a command with these three subcommands.

    # Arguments
        about: the text of its help.
        data: the name of its file in docs/data/.
        measure: function that measures, prints and returns records; it is called
            with the options.
        write: function that writes the page; it is called with the records of the
            file.
        options: list of `click.Option`s of `run` and `record`.
        of_run: list of further `click.Option`s of `run`.
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
                      help='Measure, add the result to the data, write the '
                           'page.'),
        click.Command('page', callback=page,
                      help='Write the page from the recorded data.')])
