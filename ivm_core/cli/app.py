"""The entry point: run a command, turn every error into one paragraph and a fixed exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import typer
from typer.exceptions import TyperException

from ivm_core.cli import inspection, operation, project
from ivm_core.cli.benches import bench
from ivm_core.cli.output import print_error
from ivm_core.cli.trigger import trigger
from ivm_core.errors import IvmError

INTERRUPTED = 130
USAGE = 64

EPILOG = (
    "Exit codes: 0 done · 1 unexpected error · 2 wrong definition or SQL · 3 cannot be incremental · "
    "4 unknown or existing view · 5 base table · 6 view differs from its query · 7 catalogue · 8 settings · "
    "9 environment · 10 busy, run again · 11 views failed for several reasons · 12 Airflow · 13 run failed · "
    "64 wrong usage · 130 interrupted. "
    "Settings come from options, IVM_* variables and ivm.toml, in this order. IVM_DEBUG=1 shows tracebacks."
)

app = typer.Typer(
    name="ivm",
    help="Keep views on Delta Lake fresh, by exactly-once incremental batches on Spark.",
    epilog=EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"ivm {version('ivm-core')}")
        raise typer.Exit


@app.callback()
def _global(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    """Keep views on Delta Lake fresh, by exactly-once incremental batches on Spark."""


# In the order of a first day: the help lists them so.
for function in (
    project.init,
    project.plan,
    project.apply,
    inspection.explain,
    operation.maintain,
    operation.refresh,
    trigger,
    operation.validate,
    inspection.status,
    inspection.history,
    inspection.query,
    inspection.lineage,
    operation.drop,
    inspection.doctor,
    project.demo,
):
    app.command()(function)
app.add_typer(bench)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``ivm`` with the arguments (None: the process's own) and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in given
    try:
        code = app(args=given, prog_name="ivm", standalone_mode=False)
    except typer.Abort:
        print_error("ABORTED", "Nothing was done.", as_json)
        return INTERRUPTED
    except TyperException as error:
        command = getattr(getattr(error, "ctx", None), "command_path", "ivm")
        print_error("USAGE", f"{error.format_message().rstrip('.')}. See `{command} --help`.", as_json)
        return USAGE
    except IvmError as error:
        if os.environ.get("IVM_DEBUG") == "1":
            raise
        print_error(error.code, error.message, as_json, _details(error))
        return error.exit_code
    except BrokenPipeError:
        # The reader of a pipe has seen enough; keep the interpreter from complaining at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        from ivm_core.settings import in_one_paragraph

        if os.environ.get("IVM_DEBUG") == "1":
            raise
        print_error("ERROR", f"{in_one_paragraph(error)} (IVM_DEBUG=1 shows where.)", as_json)
        return 1
    if code == INTERRUPTED:  # what typer makes of KeyboardInterrupt
        print_error("INTERRUPTED", "Interrupted. A batch that was not committed is finished by the next run.", as_json)
    return code if isinstance(code, int) else 0


def _details(error: IvmError) -> dict[str, object]:
    """The fields of the error besides its message, as ``line`` and ``construct``."""
    return {
        name: value
        for name, value in vars(error).items()
        if name != "message" and not name.startswith("_") and value not in (None, "")
    }
