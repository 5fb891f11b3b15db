"""The languages that texts for members are written in, to choose from. Pure."""

from typing import Final

from abacus.documents.form.types import Option

LANGUAGES: Final = (
    Option("en", "English"),
    Option("id", "Indonesian"),
    Option("ms", "Malay"),
    Option("vi", "Vietnamese"),
    Option("th", "Thai"),
    Option("zh", "Chinese"),
    Option("tl", "Filipino"),
)
