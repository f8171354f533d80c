"""Regular expressions; results and refusals were recorded from TensorFlow 2.21."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import pytest

import wengert as tf
from wengert.ops.patterns import Pattern, compiled

replace, match = tf.strings.regex_replace, tf.strings.regex_full_match

REPLACED: list[tuple[Any, str, Any, Any]] = [
    ("¿Todavía?", "[.?!,¿]", r" \0 ", " ¿ Todavía ? "),
    ("héé", "é+", "e", "he"),
    ("héé", ".", "x", "xxx"),
    ("日本語", "[日語]", "-", "-本-"),
    ("aé", "[^a-z]", "_", "a_"),
    ("aé", r"\W", "_", "a_"),
    ("aé", r"[^\x20-\x7e]", "_", "a_"),
    ("日本語", "本|語", "_", "日__"),
    ("naïve café", "[à-ÿ]", "?", "na?ve caf?"),
    ("añb", "a(.)b", r"\1", "ñ"),
    ("日本語", "(.)(.)", r"\2\1", "本日語"),
    ("é", "é?", r"<\0>", "<é>"),
    ("x日本x", "[^x]+", "_", "x_x"),
    ("😀a😀", "[^a]", "_", "_a_"),
    ("😀", r"\x{1F600}", "_", "_"),
    ("日", r"[\x{4e00}-\x{9fff}]", "han", "han"),
    ("aéa", "a", "é", "ééé"),
    ("é1", r"\d", "٣", "é٣"),
    ("٣3", r"\d", "_", "٣_"),
    ("ña", r"\w", "_", "ñ_"),
    ("a\xa0b", r"\s", "_", "a\xa0b"),
    ("ÀB", "(?i)à", "x", "xB"),
    ("kKK", "(?i)k", "x", "xxx"),
    ("sSſ", "(?i)S", "x", "xxx"),
    ("KkK", "(?i)[^k]", "x", "KkK"),
    ("Σσς", "(?i)σ", "x", "xxx"),
    ("ßẞ", "(?i)ß", "x", "xx"),
    ("straße STRASSE", "(?i)strasse", "x", "straße x"),
    ("aAbB", "(?i:a)b|B", "x", "axx"),
    ("aAbB", "(?i)a(?-i)b", "x", "axB"),
    ("abAB", "a(?i)b|B", "x", "xAx"),
    ("abAB", "(?:(?i)a)b", "x", "xAB"),
    ("aB", "(?i)[[:upper:]]", "x", "xx"),
    ("aB1", r"(?i)\p{Lu}", "x", "xx1"),
    ("aB1", r"(?i)\P{Lu}", "x", "aBx"),
    ("aſ", r"(?i)\W", "x", "aſ"),
    ("éÉ", "(?i)[à-ÿ]", "x", "xx"),
    ("a,b!c", "[[:punct:]]", " ", "a b c"),
    ("a1 b2", "[[:digit:][:space:]]", "_", "a__b_"),
    ("a1 b2", "[[:^alpha:]]", "_", "a__b_"),
    ("a1 b2", "[^[:^alpha:]]", "_", "_1 _2"),
    ("a_1-é", "[[:word:]]", ".", "...-é"),
    ("a\x0bb", "[[:space:]]", "_", "a_b"),
    ("a\x0bb", r"\s", "_", "a\x0bb"),
    ("fFgG09", "[[:xdigit:]]", "_", "__gG__"),
    ("\x7fa\t", "[[:cntrl:]]", "_", "_a_"),
    ("a é", "[[:ascii:]]", "_", "__é"),
    ("a~ b", "[[:graph:]]", "_", "__ _"),
    ("a\tb c", "[[:blank:]]", "_", "a_b_c"),
    ("[:alpha:]", "[:alpha:]", "_", "[_______]"),
    ("¿Qué?", r"\p{P}", "_", "_Qué_"),
    ("¿Qué tal?", r"[^\p{L} ]", "", "Qué tal"),
    ("aé1", r"\pL", "_", "__1"),
    ("aé1", r"\PL", "_", "aé_"),
    ("aé1", r"\p{^L}", "_", "aé_"),
    ("aé1", r"\P{^L}", "_", "__1"),
    ("αβa", r"\p{Greek}", "g", "gga"),
    ("жa", r"\p{Cyrillic}", "c", "ca"),
    ("漢字kana", r"\p{Han}+", "h", "hkana"),
    ("ひらカナ", r"\p{Hiragana}|\p{Katakana}", "k", "kkkk"),
    ("aé1", r"\p{Latin}", "l", "ll1"),
    ("한글 a", r"[\p{Hangul}a]", "_", "__ _"),
    ("a b", r"\pZ", "_", "a_b"),
    ("1²Ⅷ", r"\p{Nd}", "_", "_²Ⅷ"),
    ("1²Ⅷ", r"\pN", "_", "___"),
    ("€+", r"\p{Sc}", "_", "_+"),
    ("pLu", r"\pLu", "_", "p_"),
    ("aé\n", r"\p{Any}", "_", "___"),
    ("é", r"\p{Mn}", "", "e"),
    ("a]b", "[]a]", "_", "__b"),
    ("a]b", "[^]a]", "_", "a]_"),
    ("a-b", "[a-]", "_", "__b"),
    ("a-b", "[-a]", "_", "__b"),
    ("a-c", "[a-b-c]", "_", "___"),
    ("1-z", r"[\d-z]", "_", "___"),
    ("a[b", "[[a]", "_", "__b"),
    ("a&b", "[a&&b]", "_", "___"),
    (r"a\b", r"[\\]", "_", "a_b"),
    ("a]b^", r"[\]^]", "_", "a_b_"),
    ("A\tb", r"[\x41\t]", "_", "__b"),
    (".=a", "[[.a.]=]", "_", ".=a"),
    ("a\nb", "[^a]", "_", "a__"),
    ("end\n", "end$", "X", "end\n"),
    ("end\n", "(?m)end$", "X", "X\n"),
    ("end", r"end\z", "X", "X"),
    ("a\nb", "^", "-", "-a\nb"),
    ("a\nb", "(?m)^", "-", "-a\n-b"),
    ("a\nb\n", "(?m)$", "-", "a-\nb-\n-"),
    ("a\nb", ".+", "-", "-\n-"),
    ("a\nb", "(?s).+", "-", "-"),
    ("ab ab", r"\Aab", "-", "- ab"),
    ("to be", r"\b", "|", "|to| |be|"),
    ("to be", r"\B", "|", "t|o b|e"),
    ("éa", r"\b", "|", "é|a|"),
    ("", r"\B", "|", "|"),
    ("aé", r"\B", "|", b"a\xc3|\xa9|"),
    ("ab", "^*", "-", "-a-b-"),
    ("aa", "^a", "-", "-a"),
    ("baac", "a*", "-", "-b-c-"),
    ("abc", "", "-", "-a-b-c-"),
    ("héé", "", "-", "-h-é-é-"),
    ("日本", "x*", "-", "-日-本-"),
    ("", "a*", "-", "-"),
    ("aaa", "|a", "-", "-a-a-a-"),
    ("aaa", "a|", "-", "---"),
    ("aaa", "a??", "-", "-a-a-a-"),
    ("aab", "(a|)*", "-", "-b-"),
    ("abab", "(?:ab)?", "-", "--"),
    ("a b", r"\s*", "_", "_a_b_"),
    ("abc", "(q)?", r"[\1]", "[]a[]b[]c[]"),
    ("abc", "b|$", "-", "a-c-"),
    ("abaX", "(a?|b)+", r"<\0,\1>", "<aba,a>X<,>"),
    ("aabX", "(a*)*(b)", r"<\1,\2>", "<aa,b>X"),
    ("aabX", "(|a)+", r"<\1>", "<>a<>a<>b<>X<>"),
    ("aé,b", r"(\pL|)*", r"<\1>", "<é>,<b>"),
    ("aaa", "(a??)*b|(a)", r"<\2>", "<a><a><a>"),
    ("aaaa", "a{2}", "-", "--"),
    ("aaaaa", "a{2,3}?", "-", "--a"),
    ("aaaaa", "a{2,}", "-", "-"),
    ("aaa", "(?U)a+", "-", "---"),
    ("aaa", "(?U)a+?", "-", "-"),
    ("a{,3}", "a{,3}", "-", "-"),
    ("a{3", "a{3", "-", "-"),
    ("{}]", "[{]|}|]", "-", "---"),
    ("aab", "a(?i)*B", "-", "-"),
    ("a{01}", "a{01}", "-", "-"),
    ("aa", "(a{10}){100}|a", "-", "--"),
    ("ab", "(?P<n>a)(?P<m>b)", r"\2\1", "ba"),
    ("ab", "(?P<n>a)(?P<n>b)", r"\2\1", "ba"),
    ("abc", "a|(b)", r"[\1]", "[][b]c"),
    ("abcdefghij", "(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)", r"\9\10", "ia0"),
    ("ab", "(?:a)(b)", r"\1", "b"),
    ("aab", "(a+?)(a*)", r"<\1,\2>", "<a,a>b"),
    ("ab", "(?)a", "-", "-b"),
    ("abab", "(?:(a)|b)*", r"<\1>", "<a>"),
    ("a.b", r"a\.b", "-", "-"),
    ("a*b+", r"\Qa*b\E+", "-", "-+"),
    ("a.b.", r"\Q.b.", "-", "a-"),
    ("a\x01", r"\001", "-", "a-"),
    ("Ā", r"\400", "-", "-"),
    ("\x07\x0c\x0b", r"\a\f\v", "-", "-"),
    ("a/b_c", r"\/|\_", "-", "a-b-c"),
    ("é", r"\x{e9}", "-", "-"),
    ("é", r"\xe9", "-", "-"),
    ("é", r"\C", "-", "--"),
    ("a\nb", r"a\Cb", "-", "-"),
    ("abc", "(b)", r"\n", "ac"),
    ("abc", "(b)", r"\2", "abc"),
    ("abc", "b", r"\1", "abc"),
    ("abc", "(b)", "x\\", "axc"),
    ("abc", "(b)", r"\g<1>", "ac"),
    ("abc", "(b)", "\\\\", r"a\c"),
    ("abc", "(b)", r"\\1", r"a\1c"),
    ("abc", "(b)", r"\01", "ab1c"),
    ("abc", "b", "$0", "a$0c"),
    ("abc", "b", b"\xff", b"a\xffc"),
    ("abc", "(b)", r"a\qb\1", "aac"),
    ("abc", "b", r"\q\1", "abc"),
    ("aéc", "é", "\\\\", r"a\c"),
    ("aéc", "(é)", r"\1\1", "aééc"),
    ("aéc", "é", b"\xff", b"a\xffc"),
    (b"a\xffb", ".", "-", b"-\xff-"),
    (b"a\xffb", "[^a]", "-", b"a\xff-"),
    (b"a\xffb", "", "-", b"-a-\xff-b-"),
    (b"\xed\xa0\x80", ".", "-", "-"),
    (b"\xe0\x80\x80", ".", "-", "-"),
    (b"\xe0\x80\x80", "[^é]", "-", b"\xe0\x80\x80"),
    (b"\xe6\x97", ".", "-", b"\xe6\x97"),
    (b"\xe6\x97", r"\C", "-", "--"),
    (b"\xffa", "a", "b", b"\xffb"),
    (b"\xc3\xa9\xff", "é", "e", b"e\xff"),
    (b"\xff\xc3\xa9", "é(.?)", r"[\0]", b"\xff[\xc3\xa9]"),
]  # fmt: skip

FIRST: list[tuple[str, str, str, str]] = [
    ("aaa", "a", "b", "baa"),
    ("héé", "é", "e", "heé"),
    ("abc", "x*", "-", "-abc"),
    ("abc", "(b)", r"\n", "abc"),
    ("abc", "(b)", r"\1\1", "abbc"),
    ("abc", "b", r"\1", "abc"),
    ("日本", ".", "-", "-本"),
    ("é", "", "-", "-é"),
    ("abc", "c|b", r"<\0>", "a<b>c"),
]  # fmt: skip

MATCHED: list[tuple[Any, str, bool]] = [
    ("é", ".", True),
    ("éé", ".", False),
    ("ab", "a|ab", True),
    ("ab\n", "ab", False),
    ("ab\n", "ab$", False),
    ("ab\n", "(?s)ab.", True),
    ("", "", True),
    ("", "a*", True),
    ("a", "", False),
    ("日本語", r"\p{Han}{3}", True),
    ("Ünï", "[[:alpha:]]+", False),
    ("Ünï", r"\pL+", True),
    ("abc", "(?i)A.C", True),
    (b"\xff", ".", False),
    (b"\xff", r"\C", True),
    ("a b", r"\w\s\w", True),
    ("aaaa", "(a{2}){2}", True),
    ("b", "[^a]", True),
    ("\n", ".", False),
    ("\n", "[^a]", True),
    ("é", r"\C\C", True),
    ("é", r"\W", True),
]  # fmt: skip

REFUSED = [
    ("(?=a)", "invalid perl operator: (?=", "Lookahead: match what follows too, and"),
    ("(?!a)", "invalid perl operator: (?!", "Lookahead: match what may follow instead,"),
    ("(?<=a)", "invalid perl operator: (?<=", "Lookbehind: match what precedes too, and"),
    ("(?<!a)", "invalid perl operator: (?<!", "Lookbehind: match what may precede instead,"),
    ("(a)\\1", "invalid escape sequence: \\1", "A backreference: match twice, or compare"),
    ("(?P<n>a)(?P=n)", "invalid perl operator: (?P", "Write (?P<name>...). For a backreference"),
    ("a++", "bad repetition operator: ++", "One repetition of a group is enough: write"),
    ("a*+", "bad repetition operator: *+", "One repetition of a group is enough: write"),
    ("a**", "bad repetition operator: **", "One repetition of a group is enough: write"),
    ("a{2}{3}", "bad repetition operator: {2}{3}", "One repetition of a group is enough: write"),
    ("(?>a)", "invalid perl operator: (?>", "An atomic group: write (?:...)."),
    ("(a)?(?(1)b|c)", "invalid perl operator: (?(", "A conditional group: write both"),
    ("(?#c)a", "invalid perl operator: (?#", "A comment: leave it out."),
    ("(?x)a", "invalid perl operator: (?x", "Groups are (...), (?:...) and"),
    ("(?i", "invalid perl operator: (?i", "Groups are (...), (?:...) and"),
    ("(?-)a", "invalid perl operator: (?-)", "Groups are (...), (?:...) and"),
    ("(?P<>a)", "invalid named capture group: (?P<>", "Write (?P<name>...). For a backreference"),
    ("(?P<n", "invalid named capture group: (?P<n", "Write (?P<name>...). For a backreference"),
    ("(", "missing ): (", "Write \\ before signs that stand for"),
    ("(?:a", "missing ): (?:a", "Write \\ before signs that stand for"),
    (")", "unexpected ): )", "Write \\ before signs that stand for"),
    ("[", "missing ]: [", "Write \\ before signs that stand for"),
    ("[]", "missing ]: []", "Write \\ before signs that stand for"),
    ("[a", "missing ]: [a", "Write \\ before signs that stand for"),
    ("*", "no argument for repetition operator: *", "Write \\ before signs that stand for"),
    ("a|*", "no argument for repetition operator: *", "Write \\ before signs that stand for"),
    ("{2}", "no argument for repetition operator: {2}", "Write \\ before signs that stand for"),
    ("a{1001}", "invalid repetition size: {1001}", "The counts go up to 1000, those of nested"),
    (
        "(a{100}){100}",
        "invalid repetition size: {100}",
        "The counts go up to 1000, those of nested",
    ),
    ("a{2,1}", "invalid repetition size: {2,1}", "The counts go up to 1000, those of nested"),
    ("[z-a]", "invalid character class range: z-a", "Turn the range around, or write \\- for a"),
    ("[a-\\d]", "invalid escape sequence: \\d", "Write \\\\ for a backslash, and \\ only before"),
    ("[\\b]", "invalid escape sequence: \\b", "Write \\\\ for a backslash, and \\ only before"),
    (
        "[[:foo:]]",
        "invalid character class range: [:foo:]",
        "The names are alnum, alpha, ascii, blank,",
    ),
    (
        "\\p{Foo}",
        "invalid character class range: \\p{Foo}",
        "Name a general category (L, Lu, ...) or a",
    ),
    (
        "\\p{greek}",
        "invalid character class range: \\p{greek}",
        "Name a general category (L, Lu, ...) or a",
    ),
    ("\\p{L", "invalid character class range: \\p{L", "Name a general category (L, Lu, ...) or a"),
    ("\\pé", "invalid character class range: \\pé", "Name a general category (L, Lu, ...) or a"),
    ("\\Z", "invalid escape sequence: \\Z", "Write \\z for the end of the text."),
    ("\\q", "invalid escape sequence: \\q", "Write \\\\ for a backslash, and \\ only before"),
    ("\\8", "invalid escape sequence: \\8", "A backreference: match twice, or compare"),
    ("\\é", "invalid escape sequence: \\é", "Write \\\\ for a backslash, and \\ only before"),
    ("\\x4", "invalid escape sequence: \\x4", "Write \\x41 or \\x{1F600} for a character by"),
    ("\\u0041", "invalid escape sequence: \\u", "Write \\x41 or \\x{1F600} for a character by"),
    (
        "\\x{110000}",
        "invalid escape sequence: \\x{110000",
        "Write \\x41 or \\x{1F600} for a character by",
    ),
    ("\\E", "invalid escape sequence: \\E", "Write \\\\ for a backslash, and \\ only before"),
    ("a\\", "trailing \\", "Write \\\\ for a backslash, and \\ only before"),
    (b"a\xff", "invalid UTF-8", "Encode it by str.encode()."),
    (
        "(" * 5000,
        "missing ): ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((...",
        "Write \\ before signs that stand for",
    ),
]


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


@pytest.mark.parametrize(("text", "pattern", "rewrite", "expected"), REPLACED)
def test_all_matches_are_replaced(text: Any, pattern: str, rewrite: Any, expected: Any) -> None:
    assert replace(text, pattern, rewrite).numpy() == _bytes(expected)


@pytest.mark.parametrize(("text", "pattern", "rewrite", "expected"), FIRST)
def test_the_first_match_is_replaced(text: str, pattern: str, rewrite: str, expected: str) -> None:
    found = replace(text, pattern, rewrite, replace_global=False)
    assert found.numpy() == expected.encode()


@pytest.mark.parametrize(("text", "pattern", "expected"), MATCHED)
def test_whole_texts_match(text: Any, pattern: str, expected: bool) -> None:
    assert bool(match(text, pattern)) is expected


@pytest.mark.parametrize(("pattern", "rule", "remedy"), REFUSED)
def test_what_re2_refuses_is_an_error_with_a_remedy(pattern: Any, rule: str, remedy: str) -> None:
    start = "`pattern` is no regular expression of RE2: "
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        replace("a", pattern, "")
    words = str(caught.value)
    assert words.startswith("regex_replace: " + start + rule)
    assert remedy in words
    with pytest.raises(tf.errors.InvalidArgumentError, match=re.escape(start + rule)):
        match("a", tf.constant(pattern))


def test_ascii_other_texts_and_bad_bytes_in_one_tensor() -> None:
    texts = [["a.b", "é.", b"\xff."], ["", "日.", "x"]]
    assert replace(texts, r"(\W)\.|\.", r"\1!").numpy().tolist() == [
        [b"a!b", "é!".encode(), b"\xff!"], [b"", "日!".encode(), b"x"],
    ]  # fmt: skip
    assert match(texts, ".+").numpy().tolist() == [[True, True, False], [False, True, True]]
    assert replace(tf.zeros([0, 2], tf.string), "a*", "").shape == [0, 2]


def test_patterns_of_functions_may_be_tensors() -> None:
    both = tf.function(lambda x, p: (match(x, p), replace(x, p, r"<\0>")))
    found, text = both(tf.constant("né"), tf.constant(r"\pL+"))
    assert bool(found)
    assert text.numpy() == "<né>".encode()
    with pytest.raises(tf.errors.InvalidArgumentError, match="Lookahead"):
        both(tf.constant("né"), tf.constant("(?=a)"))


def test_a_pattern_is_read_once() -> None:
    assert compiled(b"a+") is compiled(b"a+")


def test_names_of_groups_in_angle_brackets() -> None:
    # The RE2 inside TensorFlow 2.21 is older and refuses them.
    assert replace("ab", "(?<n>a)", r"\1\1").numpy() == b"aab"


def test_matching_takes_time_linear_in_the_text() -> None:
    # A matcher that backtracks would need some 2**20000 steps.
    assert not bool(match("a" * 20_000, "(a*)*b"))
    assert replace("a" * 20_000, "(a|a)*b", "").numpy() == b"a" * 20_000


SIMPLE = ["a", "ab", "[abc]", "[a-c]+", "a[^b]+", r"\d", r"\d+", r"x\d+", r"[\d,]+", r"\w+", r"[^\w]", r"\.\*",
          "a-", "[^ -~]", "[!,;]", r"[\\\]\-a]+", r"[-a]", "a b", "[a^]", r"\-", r"\s+", r"\\s+", "[.+*?(){}|$]"]  # fmt: skip
HARDER = [
    "a*",
    "a|b",
    "(a)",
    "^a",
    "a.",
    r"\bx",
    "a+b",
    "[[:alpha:]]",
    "é",
    "a{2}",
    r"\pL",
    r"\x41",
    r"[\s]",
]


@pytest.mark.parametrize("pattern", SIMPLE)
def test_where_re_serves_it_finds_what_re2_finds(pattern: str) -> None:
    quick, exact = Pattern(pattern.encode()), Pattern(pattern.encode())
    assert quick._simple is not None
    exact._simple = None
    random = Random(7)
    signs = "abcx0123 .,-!*+?()[]{}|$^\\\n\t\v~é"
    texts = ["".join(random.choices(signs, k=random.randrange(12))).encode() for _ in range(300)]
    assert quick.matches(texts) == exact.matches(texts)
    for rewrite, every in ((b"", True), (rb"<\0>", True), (rb"<\0\\>", False), (b"ab", False)):
        assert quick.replaced(texts, rewrite, every=every) == exact.replaced(
            texts, rewrite, every=every
        )


@pytest.mark.parametrize("pattern", HARDER)
def test_where_re_might_differ_re2_serves(pattern: str) -> None:
    assert Pattern(pattern.encode())._simple is None
