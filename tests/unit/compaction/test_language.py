import pytest

from octavo.compaction.language import detect_language, language_of
from support.summariser import assistant, user


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Please fix the bug in `main.py` and run the tests", "English"),
        ("Bitte behebe den Fehler in der Datei und führe die Tests aus", "German"),
        ("Corrige l'erreur dans le fichier et lance les tests, c'est urgent", "French"),
        ("Por favor, corrige el error en el archivo y no cambies las pruebas", "Spanish"),
        ("Por favor, corrija o erro no arquivo e não mude os testes", "Portuguese"),
        ("corrigi l'errore nel file e non cambiare i test, per favore", "Italian"),
        ("napraw błąd w pliku i uruchom testy, proszę", "Polish"),
        ("lägg till ett test och fixa felet som är kvar", "Swedish"),
        ("请修复 main.py 里的 bug，然后 run tests", "Chinese"),
        ("バグを修正してテストを実行してください", "Japanese"),
        ("오류를 수정하고 테스트를 실행해 주세요", "Korean"),
        ("Исправь ошибку в файле main.py и запусти тесты", "Russian"),
        ("Виправ помилку у файлі та запусти тести, її треба", "Ukrainian"),
        ("أصلح الخطأ في الملف", "Arabic"),
        ("Πρόσθεσε ένα τεστ στο αρχείο", "Greek"),
        ("Hãy sửa lỗi trong tệp này cho tôi", "Vietnamese"),
        ("תקן את השגיאה בקובץ", "Hebrew"),
        ("फ़ाइल में त्रुटि ठीक करें", "Hindi"),
        ("แก้ไขข้อผิดพลาดในไฟล์", "Thai"),
    ],
)
def test_the_language_of_a_sentence_is_recognised(text: str, language: str) -> None:
    assert language_of(text)[0] == language


@pytest.mark.parametrize(
    "text", ["", "ok", "cd /src && make", "`the and is`", "```\nthe file is in the folder\n```", "42 %"]
)
def test_thin_evidence_is_no_guess(text: str) -> None:
    assert detect_language([user(text)]) is None


def test_only_the_user_votes_and_a_pasted_log_does_not_outvote_the_talk() -> None:
    log = "Error: the file is not in the folder and the tests are failing with this error. " * 40
    talk = [user("Bitte behebe den Fehler, aber ändere die Tests nicht, das ist mir wichtig.")] * 3
    assert (
        detect_language([*talk, user("Das ist die Ausgabe:\n" + log), assistant("The fix is in the file.")]) == "German"
    )


@pytest.mark.parametrize("unit", ["a", "/", "`", "<", "a/", "a.", "_", "a_", "1", "字", "http://"])
def test_hostile_text_is_read_in_linear_time(unit: str) -> None:
    messages = [user(unit * (100_000 // len(unit)))] * 100
    assert detect_language(messages) in {None, "Chinese"}
