"""Texts with patient details in them, made from templates and invented values, for measuring the screen."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from faker import Faker
from stdnum import luhn
from stdnum.gb import nhs

DATA = Path(__file__).parent / "data"
READ_LOCALES = ("en_GB", "en_US", "en_IN", "de_DE", "fr_FR", "es_ES", "pl_PL", "pt_BR", "nl_NL", "it_IT", "en_NG")
UNREAD_LOCALES = (
    "en_AU",
    "en_CA",
    "en_IE",
    "en_NZ",
    "en_PK",
    "sv_SE",
    "tr_TR",
    "ro_RO",
    "cs_CZ",
    "es_MX",
    "no_NO",
    "fi_FI",
    "en_KE",
)
# Placeholders that name nobody.
NO_DETAILS = frozenset(
    [
        "age",
        "city",
        "country",
        "nationality",
        "organization",
        "url",
        "date_time",
        "year",
        "day_of_week",
        "job",
        "nation_woman",
        "nation_plural",
        "prefix",
        "prefix_male",
        "prefix_female",
        "state_abbr",
        "secondary_address",
        "building_number",
        "street_name",
        "title",
        "zip_city",
    ]
)


@dataclass(frozen=True, slots=True)
class Text:
    """A text and where its details stand: (start, end, placeholder)."""

    text: str
    items: tuple[tuple[int, int, str], ...]


class Values:
    """Invented values in the formats of one country after another."""

    def __init__(self, locales: Sequence[str], seed: int) -> None:
        self.random = random.Random(seed)
        self.fakers = [Faker(locale) for locale in locales]
        for number, faker in enumerate(self.fakers):
            faker.seed_instance(seed + number)

    def value(self, placeholder: str) -> str:
        """Return a value for a placeholder."""
        faker, choose = self.random.choice(self.fakers), self.random.choice
        own = getattr(self, f"_{placeholder}", None)
        if own is not None:
            return str(own(faker))
        return str(
            {
                "first": faker.first_name,
                "first_lower": lambda: faker.first_name().lower(),
                "last": faker.last_name,
                "last_lower": lambda: faker.last_name().lower(),
                "last_upper": lambda: faker.last_name().upper(),
                "name": lambda: f"{faker.first_name()} {faker.last_name()}",
                "name_lower": lambda: f"{faker.first_name()} {faker.last_name()}".lower(),
                "initials": lambda: choose(["{}.{}.", "{}{}", "{}. {}."]).format(
                    faker.first_name()[0].upper(), faker.last_name()[0].upper()
                ),
                "phone": faker.phone_number,
                "email": faker.email,
                "address": lambda: faker.address().replace("\n", choose(["\n", ", "])),
                "street": lambda: faker.street_address().replace("\n", ", "),
                "postcode": self.fakers[0].postcode,
                "iban": faker.iban,
                "age": lambda: self.random.randint(1, 95),
                "city": faker.city,
                "country": faker.country,
                "organization": faker.company,
                "url": faker.url,
                "job": faker.job,
                "ip_address": faker.ipv4,
                "street_name": faker.street_name,
                "building_number": faker.building_number,
                "day_of_week": faker.day_of_week,
            }.get(placeholder, lambda: placeholder)()
        )

    def digits(self, count: int, first: str = "123456789") -> str:
        return self.random.choice(first) + "".join(self.random.choice("0123456789") for _ in range(count - 1))

    def _dob(self, faker: Faker) -> str:
        day = faker.date_of_birth(minimum_age=1, maximum_age=95)
        formats = [
            "%d/%m/%Y",
            "%d/%m/%y",
            "%Y-%m-%d",
            "%d.%m.%Y",
            "%d-%m-%Y",
            "%d %B %Y",
            "%d %b %y",
            "%B %d, %Y",
            "%m/%d/%Y",
            "%d%m%Y",
        ]
        return day.strftime(self.random.choice(formats))

    def _nhs(self, _faker: Faker) -> str:
        while True:
            digits = self.digits(9, "4679")
            number = next((digits + last for last in "0123456789" if nhs.is_valid(digits + last)), "")
            if number:
                return self.random.choice(
                    [number, f"{number[:3]} {number[3:6]} {number[6:]}", f"{number[:3]}-{number[3:6]}-{number[6:]}"]
                )

    def _chi(self, faker: Faker) -> str:
        return faker.date_of_birth(minimum_age=1, maximum_age=95).strftime("%d%m%y") + self.digits(4)

    def _ssn(self, _faker: Faker) -> str:
        number = self.digits(9, "1234567")
        return self.random.choice([f"{number[:3]}-{number[3:5]}-{number[5:]}", number])

    def _mrn(self, _faker: Faker) -> str:
        return self.random.choice(
            [
                self.digits(6),
                self.digits(7),
                self.digits(8),
                "A" + self.digits(6),
                "RX" + self.digits(6),
                self.digits(3) + "-" + self.digits(4),
            ]
        )

    def _insurance(self, _faker: Faker) -> str:
        return self.random.choice(["XYZ" + self.digits(9), self.digits(10), "W" + self.digits(8) + "01"])

    def _card(self, _faker: Faker) -> str:
        digits = "4" + self.digits(14)
        number = digits + luhn.calc_check_digit(digits)
        return self.random.choice([number, " ".join(re.findall("....", number)), "-".join(re.findall("....", number))])

    def _nino(self, _faker: Faker) -> str:
        number = self.digits(6)
        return self.random.choice([f"AB{number}C", f"JK {number[:2]} {number[2:4]} {number[4:]} A", f"pw{number}d"])

    def _passport(self, _faker: Faker) -> str:
        return self.random.choice([self.digits(9), "L" + self.digits(8), "P" + self.digits(7)])


# The placeholders of Presidio's templates, in the words of ours.
_PRESIDIO = {
    "person": "name",
    "name_male": "name",
    "name_female": "name",
    "first_name": "first",
    "first_name_male": "first",
    "first_name_female": "first",
    "first_name_nonbinary": "first",
    "last_name": "last",
    "last_name_male": "last",
    "last_name_female": "last",
    "phone_number": "phone",
    "credit_card_number": "card",
    "date_of_birth": "dob",
    "zipcode": "postcode",
    "us_driver_license": "insurance",
}


def filled(templates: Sequence[str], values: Values, times: int) -> Iterator[Text]:
    """Yield each template filled `times` times."""
    for template in templates:
        for _ in range(times):
            parts: list[str] = []
            items: list[tuple[int, int, str]] = []
            length = 0
            for number, piece in enumerate(re.split(r"\{+(\w+)\}+", template)):
                if number % 2:
                    placeholder = _PRESIDIO.get(piece, piece)
                    piece = values.value(placeholder)
                    if placeholder not in NO_DETAILS:
                        items.append((length, length + len(piece), placeholder))
                parts.append(piece)
                length += len(piece)
            yield Text("".join(parts), tuple(items))


def templates_of(path: Path) -> list[str]:
    """Return the templates in a file, one a line."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return [line.replace("\\n", "\n") for line in lines if line.strip()]
