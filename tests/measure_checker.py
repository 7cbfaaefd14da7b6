# ruff: noqa: E501, SIM905
"""Measure the checker on answers made by rule from a folder of Markdown guidelines, half of them held back.

    python -m tests.measure_checker DATA_DIR [--half dev|held|both] [--show KIND] [--json]

DATA_DIR holds nstg/docs/*.md, and optionally faithfulness/. From every document statements are drawn (seeded);
each gives supported answers (word for word; written otherwise by rule) and altered ones (a number, unit,
comparison, negation, condition, medicine, population, route or a yes and no changed). A supported answer that
is refused and an altered one that passes are the two errors.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bot.answering.checker import SourceText, check
from bot.answering.sentences import split_sentences

Alter = Callable[[str, random.Random], "str | None"]


@dataclass(frozen=True)
class Case:
    kind: str
    supported: bool
    answer: str
    source: SourceText
    question: str = ""


@dataclass(frozen=True)
class Section:
    title: str
    path: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def source(self) -> SourceText:
        return SourceText("\n".join(self.lines), self.path, self.title)


def sections_of(path: Path) -> Iterator[Section]:
    title, headings, lines = "", [], []
    for line in [*path.read_text(encoding="utf-8").split("\n"), "# end"]:
        heading = re.match(r"(#+)\s+(.*)", line)
        if not heading:
            if line.strip():
                lines.append(line)
            continue
        if lines:
            yield Section(title, tuple(headings), tuple(lines))
        lines = []
        level = len(heading[1])
        if level == 1:
            title, headings = heading[2], []
        else:
            headings = [*headings[: level - 2], heading[2]]


def half_of(path: Path) -> str:
    """Documents of one topic (name without a trailing number) stay in one half."""
    name = re.sub(r"-\d+$", "", path.stem)
    return "dev" if sum(map(ord, name)) % 2 else "held"


# What keeps the meaning

_FREQUENCY = [
    ("every 12 hours", "twice daily"),
    ("every 8 hours", "three times daily"),
    ("every 6 hours", "four times daily"),
    ("12 hourly", "every 12 hours"),
    ("8 hourly", "every 8 hours"),
    ("6 hourly", "every 6 hours"),
    ("twice daily", "bd"),
    ("every 8 hours", "8-hourly"),
    ("once daily", "every 24 hours"),
    ("three times daily", "tds"),
    ("daily", "once daily"),
]
_UNITS = [
    (r"(\d)\s?mg\b(?!/)", r"\1 milligrams"),
    (r"(\d)\s?g\b(?!/)", r"\1 grams"),
    (r"(\d)\s?mL\b", r"\1 ml"),
    (r"(\d)\s?%", r"\1 percent"),
    (r"(\d)\s?μg\b", r"\1 micrograms"),
    (r"mg/kg\b(?!/)", "mg per kg"),
]
_NUMBER_WORDS = {
    "2": "two",
    "3": "three",
    "4": "four",
    "5": "five",
    "6": "six",
    "7": "seven",
    "10": "ten",
    "12": "twelve",
}
_SYNONYMS = [
    ("orally", "by mouth"),
    ("intravenously", "IV"),
    ("intramuscularly", "by intramuscular injection"),
    ("Child", "Children"),
    ("Adult", "Adults"),
    ("should be", "must be"),
    ("Avoid", "Do not use"),
    ("avoid", "do not use"),
    ("> ", "more than "),
    ("< ", "less than "),
    ("≥ ", "at least "),
    ("e.g.", "such as"),
    ("due to", "because of"),
    ("usually", "usually"),
    ("immediately", "at once"),
    ("children", "paediatric patients"),
]


def _item(line: str) -> str:
    return re.sub(r"^\s*(?:[-*]|\d+[.)])\s+", "", line).strip()


def paraphrase(text: str, rng: random.Random) -> str | None:
    changed = text
    ways = ["frequency", "unit", "word", "synonym", "dash"]
    rng.shuffle(ways)
    for way in ways[: rng.randint(1, 3)]:
        if way == "frequency":
            for old, new in _FREQUENCY:
                if (
                    old in changed
                    and not re.search(r"[–-]\s*\d+ hourly", changed)
                    and not (old == "daily" and re.search(r"(?:once|twice|times|doses|mg/kg) daily|/", changed))
                ):
                    changed = changed.replace(old, new, 1)
                    break
        elif way == "unit":
            old, new = rng.choice(_UNITS)
            changed = re.sub(old, new, changed)
        elif way == "word":
            changed = re.sub(
                r"(?<![\d.,/-])(2|3|4|5|6|7|10|12) (days|weeks|hours|months|doses|tablets|puffs|years)",
                lambda m: f"{_NUMBER_WORDS[m[1]]} {m[2]}",
                changed,
            )
        elif way == "synonym":
            for old, new in rng.sample(_SYNONYMS, 5):
                if old == "should be" and not re.search(r"\bmust\b", new):
                    continue
                if old == "should be":
                    continue
                changed = changed.replace(old, new, 1)
        else:
            changed = re.sub(r"(\d)\s*–\s*(\d)", r"\1-\2", changed)
    frame = rng.choice(
        ["{}", "According to the guideline, {}", "{}", "You should note that {}", "The guideline states that {}"]
    )
    if frame != "{}" and changed[:1].isupper() and changed[1:2].islower():
        changed = changed[0].lower() + changed[1:]
    answer = frame.format(changed)
    return answer if answer != text else None


def reordered(text: str, rng: random.Random) -> str | None:
    match = re.fullmatch(r"(?P<main>[A-Z][^,:;.]{10,}?) (?P<cond>(?:if|when|unless|until) [^,;:.()]+)\.?", text)
    if match:
        main = match["main"]
        return f"{match['cond'].capitalize()}, {main[0].lower()}{main[1:]}"
    match = re.fullmatch(r"(?P<cond>(?:If|When|Unless) [^,;:.()]+), (?P<main>[^;:.]+)\.?", text)
    if match:
        main = match["main"]
        return f"{main[0].upper()}{main[1:]} {match['cond'][0].lower()}{match['cond'][1:]}"
    match = re.fullmatch(r"(?P<label>[A-Z][\w -]{3,40}) - (?P<who>Adult|Child|Adults|Children): (?P<rest>[^;:]+)", text)
    if match:
        return f"{match['who']}: {match['label']} {match['rest']}"
    return None


def joined(section: Section, rng: random.Random) -> str | None:
    """Some short items of a section as one sentence."""
    items = [_item(line) for line in section.lines if re.match(r"- [A-Za-z][A-Za-z ,/]{4,60}$", line)]
    items = [i for i in items if not re.search(r"\b(?:and|or|not|no|avoid|if|e\.g)\b|,", i, re.IGNORECASE)]
    if len(items) < 3 or not section.path:
        return None
    start = rng.randrange(len(items) - 2)
    some = [i[0].lower() + i[1:] for i in items[start : start + rng.randint(2, 4)]]
    return f"{section.path[-1]} include {', '.join(some[:-1])} and {some[-1]}"


# What changes the meaning

_NUMBER = re.compile(
    r"(?<![\w.,/-])\d+(?:\.\d+)?(?=\s?(?:mg|g|mL|ml|L|%|μg|mcg|units|IU|hour|day|week|month|year|mmol|cm|kg|times|tablet|puff|drop|dose|–|-|/))"
)


def other_number(text: str, rng: random.Random) -> str | None:
    found = list(_NUMBER.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    value = float(match.group())
    new = rng.choice([value * 10, value * 2, value + 1, value / 10 if value >= 1 else value * 10, value + 5])
    written = f"{new:g}"
    return None if written == match.group() else text[: match.start()] + written + text[match.end() :]


def swapped_numbers(text: str, rng: random.Random) -> str | None:
    found = list(_NUMBER.finditer(text))
    pairs = [
        (a, b)
        for i, a in enumerate(found)
        for b in found[i + 1 :]
        if a.group() != b.group() and text[a.end() : a.end() + 4] != text[b.end() : b.end() + 4]
    ]
    if not pairs:
        return None
    a, b = rng.choice(pairs)
    return text[: a.start()] + b.group() + text[a.end() : b.start()] + a.group() + text[b.end() :]


_UNIT_CHANGES = [
    (r"(?<=\d)\s?mg\b(?!/)", [" g", " mcg", " mL", " mg/kg"]),
    (r"(?<=\d)\s?g\b(?!/)", [" mg", " kg"]),
    (r"mg/kg\b", ["mg", "mcg/kg", "g/kg"]),
    (r"(?<=\d)\s?m[lL]\b(?!/)", [" L", " mg"]),
    (r"(?<=\d)\s?(?:μg|mcg)\b", [" mg"]),
    (r"(?<=\d) hours\b", [" days", " minutes"]),
    (r"(?<=\d) days\b", [" weeks", " hours"]),
    (r"(?<=\d) weeks\b", [" months", " days"]),
    (r"(?<=\d) months\b", [" years", " weeks"]),
    (r"(?<=\d) years\b", [" months"]),
    (r"(?<=\d)\s?%", [" mg"]),
    (r"\bmmol/[lL]", ["mg/dL"]),
    (r"\bmg/dL", ["mmol/L"]),
    (r"\bIU\b", ["mg"]),
    (r"(?<=\d) hourly\b", [" times daily"]),
    (r"\bdaily\b", ["weekly", "hourly"]),
    (r"\bper day\b", ["per hour"]),
    (r"\bmmHg\b", ["mg"]),
    (r"(?<=\d)\s?cm\b", [" mm"]),
    (r"\btwice daily\b", ["twice weekly", "once daily"]),
    (r"(?<=\d)\s?kg\b", [" g"]),
]


def other_unit(text: str, rng: random.Random) -> str | None:
    fits = [(p, news) for p, news in _UNIT_CHANGES if re.search(p, text)]
    if not fits:
        return None
    pattern, news = rng.choice(fits)
    return re.sub(pattern, rng.choice(news), text, count=1)


_COMPARISONS = [
    (r">\s?(?=\d)", ["< ", "≥ "]),
    (r"<\s?(?=\d)", ["> ", "≤ "]),
    (r"≥\s?", ["≤ ", "> "]),
    (r"≤\s?", ["≥ ", "< "]),
    (r"\b(?:more|greater) than (?=\d)", ["less than ", "at least "]),
    (r"\bless than (?=\d)", ["more than ", "up to "]),
    (r"\babove (?=\d)", ["below "]),
    (r"\bbelow (?=\d)", ["above "]),
    (r"\bover (?=\d+ (?:year|month))", ["under "]),
    (r"\bunder (?=\d)", ["over "]),
    (r"\bup to (?=\d)", ["at least ", "more than "]),
    (r"\bat least (?=\d)", ["at most ", "less than "]),
    (r"\bnot more than ", ["not less than "]),
    (r"\bno more than ", ["no less than "]),
    (r"\band above\b", ["and below"]),
    (r"\bmaximum\b", ["minimum"]),
    (r"\bat least one\b", ["at most one"]),
]


def other_comparison(text: str, rng: random.Random) -> str | None:
    fits = [(p, news) for p, news in _COMPARISONS if re.search(p, text)]
    if not fits:
        return None
    pattern, news = rng.choice(fits)
    return re.sub(pattern, rng.choice(news), text, count=1)


_NEGATIONS = [
    (r"\bshould not be\b", "should be"),
    (r"\bshould be avoided\b", "should be given"),
    (r"\bDo not\b", "Do"),
    (r"\bdo not\b", "do"),
    (r"\bis not\b", "is"),
    (r"\bare not\b", "are"),
    (r"\bshould be\b(?! avoided| not)", "should not be"),
    (r"^Avoid\b", "Use"),
    (r"\bavoid\b", "use"),
    (r"\bcontraindicated\b", "recommended"),
    (r"\bwithout\b", "with"),
    (r"\bnot\b", ""),
    (r"\bis\b(?! not| no\b)", "is not"),
    (r"\bare\b(?! not| no\b)", "are not"),
    (r"^No\b", "Some"),
    (r"\bcan be\b", "cannot be"),
    (r"\bmay\b", "may not"),
    (r"\bmust be\b", "must not be"),
    (r"^(Give|Treat|Use|Start|Administer|Ensure|Monitor|Apply|Refer|Encourage)\b", "Do not give"),
]


def other_negation(text: str, rng: random.Random) -> str | None:
    fits = [(p, new) for p, new in _NEGATIONS if re.search(p, text)]
    if not fits:
        return None
    pattern, new = fits[0] if rng.random() < 0.5 else rng.choice(fits)
    return re.sub(pattern, new, text, count=1)


_ACTIONS = [
    ("stop", "start"),
    ("discontinue", "continue"),
    ("increase", "decrease"),
    ("reduce", "increase"),
    ("continue", "stop"),
    ("start", "stop"),
]


def other_action(text: str, rng: random.Random) -> str | None:
    for old, new in _ACTIONS:
        if re.search(rf"\b{old}", text, re.IGNORECASE):
            return re.sub(rf"\b{old}", new, text, count=1, flags=re.IGNORECASE)
    return None


def dropped_condition(text: str, rng: random.Random) -> str | None:
    match = re.search(
        r",? \(?\b(?:if|unless|only if|until|except|provided|when)\b [^.,;:()]{6,}\)?|^(?:If|Unless|When) [^.,;:]+, |"
        r" in (?:patients|those|children|women|pregnant|severe)\b [^.,;:()]{3,}",
        text,
    )
    if not match:
        return None
    rest = (text[: match.start()] + " " + text[match.end() :]).strip()
    words = re.findall(r"[A-Za-z]{4,}", re.sub(r"\bif .*", "", rest))
    return rest[:1].upper() + rest[1:] if len(words) >= 2 else None


_CONDITION_SWAPS = [
    ("severe", "mild"),
    ("mild", "severe"),
    ("acute", "chronic"),
    ("chronic", "acute"),
    ("before", "after"),
    ("after", "before"),
    ("first", "second"),
    ("primary", "secondary"),
    ("bacterial", "viral"),
    ("viral", "bacterial"),
    ("positive", "negative"),
    ("high", "low"),
    ("low", "high"),
    ("hyper", "hypo"),
    ("hypo", "hyper"),
    ("left", "right"),
    ("early", "late"),
    ("renal", "hepatic"),
    ("hepatic", "renal"),
    ("upper", "lower"),
    ("present", "absent"),
    ("unless", "if"),
]


def swapped_condition(text: str, rng: random.Random) -> str | None:
    fits = [(a, b) for a, b in _CONDITION_SWAPS if re.search(rf"\b{a}", text, re.IGNORECASE)]
    if not fits:
        return None
    a, b = rng.choice(fits)
    return re.sub(rf"\b{a}", b, text, count=1, flags=re.IGNORECASE)


_MEDICINES = (
    "amoxicillin ceftriaxone paracetamol ibuprofen diclofenac metronidazole erythromycin ciprofloxacin doxycycline gentamicin "
    "prednisolone hydrocortisone salbutamol artesunate quinine furosemide hydralazine methyldopa nifedipine diazepam phenytoin "
    "carbamazepine haloperidol chlorpromazine omeprazole insulin metformin warfarin heparin fluconazole ketoconazole aciclovir "
    "tetracycline chloramphenicol azithromycin clarithromycin morphine aspirin atropine adrenaline dexamethasone albendazole "
    "mebendazole praziquantel ivermectin digoxin lisinopril enalapril amlodipine atenolol propranolol spironolactone"
).split()


def other_medicine(text: str, rng: random.Random) -> str | None:
    found = [m for m in _MEDICINES if re.search(rf"\b{m}\b", text, re.IGNORECASE)]
    if not found:
        return None
    old = rng.choice(found)
    new = rng.choice([m for m in _MEDICINES if m not in text.lower()])
    return re.sub(rf"\b{old}\b", new, text, count=1, flags=re.IGNORECASE)


_POPULATIONS = [
    ("adults", "children"),
    ("adult", "child"),
    ("children", "adults"),
    ("child", "adult"),
    ("neonates", "adults"),
    ("infants", "adults"),
    ("women", "men"),
    ("pregnant", "elderly"),
    ("elderly", "pregnant"),
    ("males", "females"),
    ("female", "male"),
    ("male", "female"),
]


def other_population(text: str, rng: random.Random) -> str | None:
    for old, new in _POPULATIONS:
        if re.search(rf"\b{old}\b", text, re.IGNORECASE) and not re.search(rf"\b{new}", text, re.IGNORECASE):
            return re.sub(rf"\b{old}\b", new, text, count=1, flags=re.IGNORECASE)
    return None


_ROUTES = [
    ("orally", "intravenously"),
    ("oral", "intravenous"),
    ("intravenously", "orally"),
    ("intravenous", "oral"),
    ("intramuscularly", "orally"),
    ("intramuscular", "subcutaneous"),
    ("topical", "oral"),
    ("IV", "IM"),
    ("subcutaneous", "intramuscular"),
    ("rectal", "oral"),
]


def other_route(text: str, rng: random.Random) -> str | None:
    for old, new in _ROUTES:
        if re.search(rf"\b{old}\b", text) and new not in text:
            return re.sub(rf"\b{old}\b", new, text, count=1)
    return None


ALTERATIONS: dict[str, Alter] = {
    "number": other_number,
    "number swapped": swapped_numbers,
    "unit": other_unit,
    "comparison": other_comparison,
    "negation": other_negation,
    "action": other_action,
    "condition dropped": dropped_condition,
    "condition swapped": swapped_condition,
    "medicine": other_medicine,
    "population": other_population,
    "route": other_route,
}


def _mixed(section: Section, rng: random.Random) -> str | None:
    """One item's label with another item's dose of the same section."""
    labelled = [
        m for line in section.lines if (m := re.match(r"- ([A-Z][\w -]{3,30}?)(?: - |: )(.*\d+\s?(?:mg|g|mL).*)", line))
    ]
    pairs = [(a, b) for a in labelled for b in labelled if a[1].split()[0] != b[1].split()[0] and a[2] != b[2]]
    pairs = [(a, b) for a, b in pairs if not re.search(r"Adult|Child", a[1] + b[1])]
    if not pairs:
        return None
    a, b = rng.choice(pairs)
    return f"{a[1]}: {b[2]}"


def yes_no_cases(section: Section, text: str) -> Iterator[Case]:
    match = re.fullmatch(
        r"(?P<x>[A-Z][\w ,/-]{3,80}?) (?P<v>should be avoided|is contraindicated|are contraindicated|should not be given|should not be used|is not recommended)(?P<rest>[^.;:]*)\.?",
        text,
    )
    if match:
        question = f"Can I give {match['x'].lower()}{match['rest']}?"
        yield Case(
            "yes/no", False, f"Yes, {match['x'].lower()} can be given{match['rest']} [S1].", section.source, question
        )
        yield Case("yes/no", False, f"Yes, {text.rstrip('.')} [S1].", section.source, question)
        yield Case("supported: yes/no", True, f"No, {text.rstrip('.')} [S1].", section.source, question)
        return
    match = re.fullmatch(r"(?:Avoid|Do not use|Do not give) (?P<rest>[^.;:]{5,80})\.?", text)
    if match:
        question = f"Can I use {match['rest']}?"
        yield Case("yes/no", False, f"Yes, use {match['rest']} [S1].", section.source, question)
        yield Case("supported: yes/no", True, f"No, avoid {match['rest']} [S1].", section.source, question)
        return
    match = re.fullmatch(
        r"(?P<x>[A-Z][\w ,/-]{3,80}?) (?P<v>should be|can be|may be|is) (?P<rest>(?:given|used|indicated|recommended|added|considered)[^.;:]*)\.?",
        text,
    )
    if match and not re.search(r"\bnot\b|\bno\b", text):
        verb = match["v"].split()[0]
        question = f"{verb.capitalize()} {match['x'].lower()} {'be ' if 'be' in match['v'] else ''}{match['rest']}?"
        yield Case(
            "yes/no",
            False,
            f"No, {match['x'].lower()} {verb} not {'be ' if 'be' in match['v'] else ''}{match['rest']} [S1].",
            section.source,
            question,
        )
        yield Case("supported: yes/no", True, f"Yes, {text.rstrip('.')} [S1].", section.source, question)


def tagged(text: str) -> str:
    """Return the text with a tag on every sentence."""
    return " ".join(f"{s.rstrip('.')} [S1]." for s in split_sentences(text))


def cases_of(documents: list[Path], seed: int) -> Iterator[Case]:
    for path in documents:
        rng = random.Random(f"{seed}-{path.stem}")
        for section in sections_of(path):
            source = section.source
            if answer := joined(section, rng):
                yield Case("supported: joined items", True, f"{answer} [S1].", source)
            if answer := _mixed(section, rng):
                yield Case("dose of another", False, f"{answer} [S1].", source)
            texts = [t for line in section.lines if (t := _item(line)) and 12 < len(t) < 260]
            sentences = [
                s
                for t in texts
                for s in (re.split(r"(?<=[a-z)])\. (?=[A-Z])", t) if not re.match(r".{1,60}:", t) else [t])
            ]
            for text in sentences:
                text = text.rstrip(".")
                yield from yes_no_cases(section, text)
                interesting = bool(re.search(r"\d|\bnot\b|avoid|\bif\b|unless|only|until|contraind", text))
                if rng.random() < (0.5 if interesting else 0.12):
                    yield Case("supported: word for word", True, tagged(text), source)
                if (answer := paraphrase(text, rng)) and rng.random() < (0.6 if interesting else 0.15):
                    yield Case("supported: written otherwise", True, tagged(answer), source)
                if answer := reordered(text, rng):
                    yield Case("supported: reordered", True, f"{answer} [S1].", source)
                for kind, alter in ALTERATIONS.items():
                    base = (paraphrase(text, rng) or text) if rng.random() < 0.3 else text
                    answer = alter(base, rng)
                    if (
                        answer
                        and answer != base
                        and (kind in ("comparison", "negation", "action") or rng.random() < 0.5)
                    ):
                        yield Case(kind, False, tagged(answer.strip()), source)


TARGETS = {
    "number": 0.99,
    "number swapped": 0.99,
    "unit": 0.99,
    "comparison": 0.95,
    "negation": 0.95,
    "action": 0.95,
    "yes/no": 0.95,
}


def measure(cases: list[Case], show: str = "") -> dict[str, dict[str, float]]:
    right: dict[str, int] = defaultdict(int)
    total: dict[str, int] = defaultdict(int)
    for case in cases:
        report = check(case.answer, {"S1": case.source}, question=case.question)
        total[case.kind] += 1
        right[case.kind] += report.supported == case.supported
        if show and case.kind.startswith(show) and report.supported != case.supported:
            problems = [p for s in report.sentences for p in s.problems]
            print(f"{case.kind} | {case.answer} | {problems}", file=sys.stderr)
    return {k: {"n": total[k], "share": round(right[k] / total[k], 4)} for k in sorted(total)}


def health_versed(path: Path, limit: int = 1500) -> dict[str, dict[str, float]]:
    import csv

    seen: dict[str, list[bool]] = defaultdict(list)
    with path.open(encoding="utf-8") as file:
        for row in list(csv.DictReader(file))[:limit]:
            report = check(
                f"{row['claim'].strip().rstrip('.?')} [S1].", {"S1": row["evidence"]}, question=row["question"]
            )
            seen[row["label"]].append(report.supported)
    return {label: {"n": len(v), "passed": round(sum(v) / len(v), 4)} for label, v in sorted(seen.items())}


def negation_questions(path: Path, limit: int = 1500) -> dict[str, dict[str, float]]:
    """CondaQA: 'Yes/No' with the negated sentence, on the passage as it was and as it was edited."""
    seen: dict[str, list[bool]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines()[:limit]:
        row = json.loads(line)
        label = str(row["label"]).upper()
        if label not in ("YES", "NO"):
            continue
        passage, question = row["sentence1"], row["sentence2"]
        sentence = row["original sentence"].strip().rstrip(".")
        for word in ("Yes", "No"):
            report = check(f"{word}, {sentence} [S1].", {"S1": passage}, question=question)
            seen["right answer" if word.upper() == label else "wrong answer"].append(report.supported)
        if sentence not in passage:
            seen["sentence of the unedited passage"].append(check(f"{sentence} [S1].", {"S1": passage}).supported)
    return {label: {"n": len(v), "passed": round(sum(v) / len(v), 4)} for label, v in sorted(seen.items())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--half", choices=["dev", "held", "both"], default="both")
    parser.add_argument("--show", default="", help="print the errors of kinds that begin so")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--rules-only", action="store_true")
    args = parser.parse_args()
    documents = sorted((args.data / "nstg" / "docs").glob("*.md"))
    result: dict[str, object] = {}
    for half in ("dev", "held") if args.half == "both" else (args.half,):
        result[half] = measure(list(cases_of([d for d in documents if half_of(d) == half], args.seed)), args.show)
    faithfulness = args.data / "faithfulness"
    if faithfulness.exists() and not args.rules_only:
        result["healthver"] = health_versed(faithfulness / "healthver_dev.csv")
        result["condaqa"] = negation_questions(faithfulness / "condaqa_dev.jsonl")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
