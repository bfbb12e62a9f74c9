"""What the command prints."""
import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text


def is_faithful(result):
    return result['outcome'] == 'faithful'


def columns(inactive):
    """Returns the columns of the table: pairs (heading, key of a row)."""
    released = [('Released', 'released')]
    return released if inactive else released + [('keras-clone', 'active')]


def print_table(rows, inactive):
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False,
                  padding=(0, 1, 0, 0))
    for heading in ['Model'] + [heading for heading, _ in columns(inactive)]:
        table.add_column(heading, overflow='fold')
    for row in rows:
        table.add_row(Text(row['description']),
                      *[_cell(row[key]) for _, key in columns(inactive)])
    Console().print(table)


def _cell(result):
    if is_faithful(result):
        return Text(result['outcome'], style='green')
    cell = Text(result['outcome'], style='red')
    if result['layer']:
        cell.append(' at ' + result['layer'], style='default')
    return cell


def print_differences(rows, inactive):
    for row in rows:
        for heading, key in columns(inactive):
            if row[key]['differences']:
                click.echo(f"{row['description']}, {heading.lower()}:")
                click.echo(''.join(f'  {each}\n'
                                   for each in row[key]['differences']))


def print_not_compared(rows, inactive):
    """Prints what was not compared, for faithful clones as well."""
    for row in rows:
        for heading, key in columns(inactive):
            if row[key].get('not_compared'):
                texts = ', '.join(row[key]['not_compared'])
                click.echo(f"Not compared, {row['description']}, "
                           f'{heading.lower()}: {texts}.\n')


def counts(rows):
    """Returns how many models each function clones faithfully."""
    return {key: sum(is_faithful(row[key]) for row in rows)
            for key in ('released', 'active')}


def last_line(rows, inactive):
    models = '1 model' if len(rows) == 1 else f'{len(rows)} models'
    faithful = counts(rows)
    line = f"{models}: released clone_model faithful for {faithful['released']}"
    if inactive:
        return f'{line}. keras-clone is not active ({inactive}).'
    return f"{line}, keras-clone for {faithful['active']}."


def data_of(facts, inactive, seed, rows):
    """Returns what is printed as JSON."""
    data = {fact.name.lower(): fact.release for fact in facts}
    data['active'] = 'released' if inactive else 'keras-clone'
    data['seed'] = seed
    data['faithful'] = counts(rows)
    data['models'] = rows
    return data
