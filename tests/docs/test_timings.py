"""Tables of timings on pages are those of their result files, and a smoke test writes nothing."""

import pytest

from benchmarks.__main__ import subjects

SUBJECTS = subjects()


@pytest.mark.parametrize("name", SUBJECTS)
def test_table_is_that_of_the_results(name):
    """Change either, and this fails until ``python -m benchmarks --redraw``."""
    subject = SUBJECTS[name]
    part = subject.part(subject.results.read_text(encoding="utf-8"))
    assert f"<!-- {name} -->\n\n{part}\n\n<!-- end of {name} -->\n" in subject.page.read_text(
        encoding="utf-8"
    )


def test_smoke_prints_the_table_and_writes_nothing(capsys):
    subject = SUBJECTS["measures"]
    before = subject.results.read_bytes(), subject.page.read_bytes()
    subject.run(smoke=True)
    printed, saved = (
        capsys.readouterr().out,
        subject.part(subject.results.read_text(encoding="utf-8")),
    )
    first = [
        {line.split(" | ")[0] for line in text.splitlines()[:-1]}
        for text in (printed.strip(), saved)
    ]
    assert first[0] == first[1]
    assert (subject.results.read_bytes(), subject.page.read_bytes()) == before
