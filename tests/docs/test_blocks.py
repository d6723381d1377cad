"""Tests of pages find blocks where Markdown has them, and run them as they read."""

import traceback

import pytest
from blocks import run, sections

PAGE = """\
```python
before = 1
```

# One

Text with `code` and ``` in a line.

```sh
# no heading
pip install gapboost
```

```python
# no heading
x = a + 1
```

## Two

```
plain
```

### Three

```python
y = x + before
```

```python
z = y / 0
```
"""


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    return path


def test_sections_and_blocks(page):
    found = list(sections(page))
    assert [section.title for section in found] == ["", "One", "Two", "Three"]
    assert [[block.language for block in section.blocks] for section in found] == [
        ["python"],
        ["sh", "python"],
        [""],
        ["python", "python"],
    ]
    lines = PAGE.splitlines()
    for section in found:
        for block in section.blocks:
            code = block.code.splitlines()
            assert lines[block.line - 1 : block.line - 1 + len(code)] == code
            assert lines[block.line - 1 + len(code)] == "```"


def test_blocks_run_in_one_namespace(page):
    first, one, _, three = sections(page)
    code = [*first.blocks, *one.of("python"), three.blocks[0]]
    assert run(code, {"a": 2})["y"] == 4
    assert run(code, {"a": 2}, {"a + 1": "a + 10"})["y"] == 13
    with pytest.raises(NameError, match="'a' is not defined"):
        run(code)


def test_a_stand_in_must_stand_for_something(page):
    (_, one, *_) = sections(page)
    with pytest.raises(AssertionError, match="no block contains 'b \\+ 1'"):
        run(one.of("python"), {"a": 2}, {"b + 1": "a"})


def test_errors_show_the_line_of_the_page(page):
    *_, three = sections(page)
    with pytest.raises(ZeroDivisionError) as raised:
        run(three.blocks, {"x": 1, "before": 1})
    frame = traceback.extract_tb(raised.value.__traceback__)[-1]
    assert frame.filename == str(page)
    assert PAGE.splitlines()[frame.lineno - 1] == "z = y / 0"


def test_an_open_block_is_an_error(tmp_path):
    (tmp_path / "open.md").write_text("# One\n\n```python\nx = 1\n")
    with pytest.raises(AssertionError, match="line 3 is not closed"):
        list(sections(tmp_path / "open.md"))
