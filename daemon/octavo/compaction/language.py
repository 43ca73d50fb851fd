"""Which language the user writes, from script and very frequent words, so that a summary can be asked for in it.

A guess for one prompt line, without a dictionary: None where the evidence is thin. Code, links and quoted output do not
vote. Every message votes once, weighed by its length up to a bound, so that one pasted log cannot outvote a talk.
Known failure BR-067.
"""

import re
from collections import Counter
from collections.abc import Iterable

from octavo.compaction.serialize import text_of
from octavo_protocol.base import JsonObject

MAX_MESSAGES = 400
MAX_CHARS = 4000
MIN_WEIGHT = 4.0
_FULL_VOTE = 12.0
_FOREIGN_SHARE = 0.25

_NOT_PROSE = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]{1,400}`|<[^<>\n]{1,200}>|\b[a-z][a-z0-9+.-]{1,20}://\S++"
    r"|[\w.~-]{0,60}[/\\][\w./\\~-]++|\b\w++\(|\b\w{0,40}?[_\d]\w*+|\b\w++\.\w++",
    re.DOTALL,
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")

_SCRIPTS: tuple[tuple[str, str], ...] = (
    ("kana", "\u3040-\u30ff\uff66-\uff9f"),
    ("hangul", "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"),
    ("han", "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"),
    ("cyrillic", "\u0400-\u052f"),
    ("greek", "\u0370-\u03ff\u1f00-\u1fff"),
    ("arabic", "\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufeff"),
    ("Hebrew", "\u0590-\u05ff"),
    ("Armenian", "\u0530-\u058f"),
    ("Georgian", "\u10a0-\u10ff\u1c90-\u1cbf"),
    ("devanagari", "\u0900-\u097f"),
    ("Bengali", "\u0980-\u09ff"),
    ("Punjabi", "\u0a00-\u0a7f"),
    ("Gujarati", "\u0a80-\u0aff"),
    ("Tamil", "\u0b80-\u0bff"),
    ("Telugu", "\u0c00-\u0c7f"),
    ("Kannada", "\u0c80-\u0cff"),
    ("Malayalam", "\u0d00-\u0d7f"),
    ("Sinhala", "\u0d80-\u0dff"),
    ("Thai", "\u0e00-\u0e7f"),
    ("Lao", "\u0e80-\u0eff"),
    ("Tibetan", "\u0f00-\u0fff"),
    ("Burmese", "\u1000-\u109f"),
    ("Amharic", "\u1200-\u137f"),
    ("Khmer", "\u1780-\u17ff"),
    ("Mongolian", "\u1800-\u18af"),
)
_SCRIPT_RUNS = tuple((name, re.compile(f"[{chars}]+")) for name, chars in _SCRIPTS)
# Scripts without spaces between words: this many characters weigh as much as one word.
_CHARS_PER_WORD = {"kana": 2.0, "han": 1.6, "Thai": 4.0, "Lao": 4.0, "Khmer": 4.0, "Burmese": 4.0, "Tibetan": 4.0}

_LATIN: dict[str, str] = {
    "English": "the and is are to of in that it this for with you not have what please can we but how should be my on",
    "German": "der die das und ist nicht ich wir mit für auf ein eine dass bitte wie auch noch aber wenn den im zu es",
    "French": "le la les et est pas je nous avec pour sur une que qui des du dans mais comment ça il faut c'est en ce",
    "Spanish": "el la los las y es no que por favor con para una del como pero está hay qué cómo en se lo más esto si",
    "Portuguese": "o os as e é não que por favor com para uma do da como mas está você isso em se mais também ao na no",
    "Italian": "il lo gli e è non che per favore con una del della come ma anche di questo sono nel puoi perché più si",
    "Dutch": "de het een en is niet ik we met voor op dat dit maar ook graag hoe nog wel er aan zijn kan je naar van",
    "Polish": "i w nie że się na jest to z do proszę jak ale czy co tak po dla już tylko jeszcze może mam być są",
    "Czech": "a je se na to že v není s prosím jak ale co tak pro už jen ještě jsem může být jsou také nebo když",
    "Slovak": "a je sa na to že v nie s prosím ako ale čo tak pre už len ešte som môže byť sú tiež alebo keď",
    "Swedish": "och är inte att det en ett jag vi med för på som den men kan också hur snälla vad till av om nu",
    "Danish": "og er ikke at det en et jeg vi med for på som den men kan også hvordan hvad til af om nu skal være",
    "Norwegian": "og er ikke å det en et jeg vi med for på som den men kan også hvordan hva til av om nå skal være",
    "Finnish": "ja on ei että se tämä minä me kanssa mutta myös miten mitä kun niin ole voi vain nyt jos siis kiitos",
    "Turkish": "ve bir bu değil için ile ne nasıl ama da de çok var yok lütfen mı mi daha olarak gibi şu ben şimdi",
    "Vietnamese": "là và không của cho có được này trong với các những một tôi bạn hãy như thế nào thì khi đã sẽ vào",
    "Indonesian": "dan yang tidak ini itu untuk dengan dari di ke saya kita tolong bagaimana apa juga ada akan sudah",
    "Romanian": "și este nu că în pe cu pentru o un care mai dar cum te rog sunt din la ce să am fi sau acest",
    "Hungarian": "és a az nem hogy egy is van ez azt kérlek de már csak még meg mit mi ha kell lehet vagy mert",
}
_PROFILES = {language: frozenset(words.split()) for language, words in _LATIN.items()}
# Letters that all but decide between neighbours.
_LETTERS: dict[str, str] = {
    "German": "ßäöü", "French": "çêèàùœ", "Spanish": "ñ¿¡", "Portuguese": "ãõ",
    "Polish": "łąęśżźćń", "Czech": "řůě",
    "Slovak": "ľĺŕô", "Swedish": "å", "Danish": "øæ", "Norwegian": "øæ", "Turkish": "ığş",
    "Vietnamese": "ơưđạảấầậắềểệễốồộớờởợứừữựỉịọủ",
    "Romanian": "șțăâ", "Hungarian": "őű",
}  # fmt: skip


def detect_language(messages: Iterable[JsonObject]) -> str | None:
    """Return the English name of the language of the user's messages, None when it cannot be told."""
    texts = [text_of(message.get("content")) for message in messages if message.get("role") == "user"]
    votes: dict[str, float] = {}
    for text in texts[-MAX_MESSAGES:]:
        language, weight = language_of(text[:MAX_CHARS])
        if language is not None:
            votes[language] = votes.get(language, 0.0) + min(weight, _FULL_VOTE)
    if not votes:
        return None
    language, weight = max(votes.items(), key=lambda vote: vote[1])
    return language if weight >= MIN_WEIGHT else None


def language_of(text: str) -> tuple[str | None, float]:
    """Return the language of one text and how much the guess weighs, about one per word of evidence."""
    prose = _NOT_PROSE.sub(" ", text)
    weights = {name: _script_weight(name, pattern, prose) for name, pattern in _SCRIPT_RUNS}
    foreign = sum(weights.values())
    latin = [word.lower() for word in _WORD.findall(prose) if word[0] < "\u0250" or "\u1e00" <= word[0] < "\u1f00"]
    # Technical English is sprinkled over every language, so a quarter of another script is enough.
    if foreign > 0 and foreign >= _FOREIGN_SHARE * (foreign + len(latin)):
        return _foreign_language(weights, prose), foreign
    return _latin_language(latin, prose)


def _script_weight(name: str, pattern: re.Pattern[str], text: str) -> float:
    runs = pattern.findall(text)
    per_word = _CHARS_PER_WORD.get(name)
    return float(len(runs)) if per_word is None else sum(map(len, runs)) / per_word


def _foreign_language(weights: dict[str, float], text: str) -> str:
    # Japanese mixes Han with kana; Han alone is Chinese.
    if weights["kana"] > 0 and weights["kana"] >= 0.15 * weights["han"]:
        weights["kana"] += weights.pop("han")
    script = max(weights, key=lambda name: weights[name])
    match script:
        case "kana":
            return "Japanese"
        case "hangul":
            return "Korean"
        case "han":
            return "Chinese"
        case "greek":
            return "Greek"
        case "cyrillic":
            return _cyrillic_language(text.lower())
        case "arabic":
            return _arabic_language(text)
        case "devanagari":
            return "Marathi" if re.search("आहे|आणि|नाही", text) else "Hindi"
    return script


def _cyrillic_language(text: str) -> str:
    if re.search("[іїєґ]", text):
        return "Belarusian" if "ў" in text else "Ukrainian"
    if re.search("[ђћџљњј]", text):
        return "Macedonian" if re.search("[ѓќѕ]", text) else "Serbian"
    if re.search("[ыэё]", text):
        return "Kazakh" if re.search("[әғқңөұүһ]", text) else "Russian"
    return "Bulgarian" if re.search(r"\b(?:се|да|че|са|съм|не е|ще|какво)\b", text) and "ъ" in text else "Russian"


def _arabic_language(text: str) -> str:
    if re.search("[ٹڈڑےں]", text):
        return "Urdu"
    return "Persian" if re.search("[پچژگی]", text) else "Arabic"


def _latin_language(words: list[str], text: str) -> tuple[str | None, float]:
    counts = Counter(words)
    lowered = text.lower()
    scores: dict[str, float] = {}
    for language, profile in _PROFILES.items():
        hits = sum(count for word, count in counts.items() if word in profile)
        marks = sum(lowered.count(letter) for letter in _LETTERS.get(language, ""))
        scores[language] = hits + min(marks, 2 * len(words)) / 2
    best = max(scores, key=lambda language: scores[language])
    others = max((score for language, score in scores.items() if language != best), default=0.0)
    if scores[best] < 2 or scores[best] <= others:
        return None, 0.0
    return best, scores[best]
