import pytest

from octavo.compaction.neutralise import Redactor, boundaries, has_boundary


@pytest.mark.parametrize(
    "tag",
    ["<conversation>", "</ conversation >", "< / Previous-Summary>", "<SUMMARY>", "</files>", "<additional-context x>"],
)
def test_a_boundary_tag_inside_the_talk_cannot_close_its_wrapper(tag: str) -> None:
    assert has_boundary(tag)
    assert boundaries(f"a {tag} b") == f"a &lt;{tag[1:]} b"


def test_ordinary_markup_is_left_as_it_is() -> None:
    text = "<div> <conversations> <files-list> a < b <summary-x>"
    assert boundaries(text) == text


def test_harmony_control_tokens_are_escaped() -> None:
    assert boundaries("<|start|>user<|end|><|im_start|>") == "<\\|start\\|>user<\\|end\\|><|im_start|>"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("AKIAIOSFODNN7EXAMPLE", ""),
        ("password=hunter2x rest", "password="),
        ('{"password": "correct horse"}', '{"password": "'),
        ('{\\"api_key\\":\\"abcdef123\\"}', '{\\"api_key\\":\\"'),
        ("postgres://ann:s3cr3t@db/x", "postgres://ann:"),
        ("Authorization: Bearer abcdefghijklmnop1234", "Authorization: Bearer "),
        ("token ghp_" + "a1" * 20, "token "),
        ("sk-" + "ab12" * 8, ""),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIab/+=\n-----END RSA PRIVATE KEY-----", ""),
    ],
)
def test_a_secret_is_redacted_counted_and_never_fatal(text: str, kept: str) -> None:
    """BR-074."""
    redactor = Redactor()
    clean = redactor.text(text)
    assert clean.startswith(f"{kept}[redacted ")
    assert redactor.count == 1
    assert redactor.text(clean) == clean
    assert redactor.count == 1


@pytest.mark.parametrize(
    "text",
    ["password: process.env.PASS", "def login(password: str)", "api_key = get_key()", "max_tokens=20000", "a://b c@d"],
)
def test_code_about_secrets_is_not_a_secret(text: str) -> None:
    redactor = Redactor()
    assert (redactor.text(text), redactor.count) == (text, 0)


def test_images_signatures_and_opaque_payloads_stay_byte_identical() -> None:
    secret = "password=hunter2x"
    blocks = [
        {"type": "image", "data": secret, "mimeType": "image/png"},
        {"type": "thinking", "thinking": secret, "thinkingSignature": secret},
        {"type": "text", "text": secret, "textSignature": "sig"},
        {"type": "text", "text": secret},
        {"type": "toolCall", "id": "1", "name": "bash", "arguments": {"c": [secret], "n": 1}},
    ]
    message = {"role": "assistant", "content": blocks, "providerPayload": {"items": [secret]}}
    redactor = Redactor()
    clean = redactor.message(message)
    assert clean["content"][:3] == blocks[:3]
    assert clean["content"][3]["text"] == "password=[redacted secret]"
    assert clean["content"][4]["arguments"] == {"c": ["password=[redacted secret]"], "n": 1}
    assert clean["providerPayload"] is message["providerPayload"]
    assert redactor.count == 2
    assert message["content"][3] == {"type": "text", "text": secret}


def test_a_message_without_secrets_is_returned_as_the_same_object() -> None:
    message = {"role": "user", "content": [{"type": "text", "text": "plain"}, None, "odd"]}
    assert Redactor().message(message) is message


@pytest.mark.parametrize(
    "unit",
    ["<", "< ", "password=", "-----BEGIN PRIVATE KEY-----", "eyJaaaaaaaaaaa.", "bearer ", "http://a:", "sk-"],
)
def test_hostile_repetitions_take_linear_time(unit: str) -> None:
    text = unit * (400_000 // len(unit))
    assert len(Redactor().text(boundaries(text))) > 0
