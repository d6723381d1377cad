"""Numbers and names, as pages show them."""

import re


def signed(value: float) -> str:
    """Return a number with four decimals and a true minus sign."""
    return f"{value:+.4f}".replace("-", "−")


def escaped(text: str) -> str:
    """Return text escaped for Markdown, in one line; names may hold any characters."""
    text = re.sub(r"([\\`*{}\[\]<>#|~$&]|(?<!\w)_|_(?!\w))", r"\\\1", " ".join(text.split()))
    return re.sub(r"^([-+]|\d+[.)])(?=\s)", lambda begin: f"{begin[0][:-1]}\\{begin[0][-1]}", text)
