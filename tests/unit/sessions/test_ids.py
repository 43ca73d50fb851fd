"""Ids, file names and folder names."""

import re
import uuid

import pytest

from octavo.sessions import ids

NOW = 1_767_225_600_123


class Everything:
    """A container in which every 8-digit id is taken."""

    def __init__(self) -> None:
        self.asked = 0

    def __contains__(self, candidate: object) -> bool:
        self.asked += 1
        return isinstance(candidate, str) and len(candidate) == 8


def test_an_entry_id_is_drawn_again_while_it_is_taken() -> None:
    draws = iter([b"\0\0\0\1", b"\0\0\0\1", b"\0\0\0\2"])
    drawn = ids.new_entry_id({"00000001"}, random_bytes=lambda _: next(draws), now_ms=lambda: NOW)
    assert drawn == "00000002"


def test_after_a_hundred_collisions_an_entry_id_is_longer_and_sorts_by_time() -> None:
    taken = Everything()
    early = ids.new_entry_id(taken, random_bytes=lambda n: b"\xff" * n, now_ms=lambda: NOW)
    assert taken.asked == 101
    assert re.fullmatch(r"[0-9a-f]{16}", early)
    assert early < ids.new_entry_id(Everything(), random_bytes=lambda n: b"\0" * n, now_ms=lambda: NOW + 1)


def test_session_ids_are_uuids_of_version_7_and_sort_by_time() -> None:
    early = ids.new_session_id(NOW, lambda n: b"\xff" * n)
    parsed = uuid.UUID(early)
    assert (parsed.version, parsed.variant) == (7, uuid.RFC_4122)
    assert int(early.replace("-", "")[:12], 16) == NOW
    assert early < ids.new_session_id(NOW + 1, lambda n: b"\0" * n)


def test_stable_ids_repeat_for_the_same_seed_only() -> None:
    first, again, other = ids.stable_ids("s"), ids.stable_ids("s"), ids.stable_ids("t")
    drawn = [first() for _ in range(1000)]
    assert drawn == [again() for _ in range(1000)]
    assert len(set(drawn)) == 1000
    assert drawn[0] != other()


@pytest.mark.parametrize("now", [0, 999, NOW, 4_102_444_799_999])
def test_timestamps_go_there_and_back(now: int) -> None:
    assert ids.epoch_ms(ids.iso_timestamp(now)) == now


@pytest.mark.parametrize("odd", [None, 5, "t", "", "2026-13-01T00:00:00Z", []])
def test_what_is_no_timestamp_has_no_time(odd: object) -> None:
    assert ids.epoch_ms(odd) is None


def test_timestamps_without_a_zone_are_utc() -> None:
    assert ids.epoch_ms("2026-01-01T00:00:00") == ids.epoch_ms("2026-01-01T00:00:00.000Z") == 1_767_225_600_000


def test_file_names_hold_no_colon_and_no_second_dot() -> None:
    assert ids.session_file_name(ids.iso_timestamp(NOW), "abc") == "2026-01-01T00-00-00-123Z_abc.jsonl"


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("/home/ada", "-"),
        ("/home/ada/", "-"),
        ("/home/ada/work", "-work"),
        ("/home/adam", "--home-adam--"),
        ("/var/tmp", "-tmp"),
        ("/var/tmp/a/b", "-tmp-a-b"),
        ("/srv/a:b\\c", "--srv-a-b-c--"),
        ("/", "----"),
    ],
)
def test_the_folder_of_a_working_directory_tells_where_it_is(cwd: str, name: str) -> None:
    assert ids.session_folder_name(cwd, home="/home/ada", temp="/var/tmp") == name


def test_without_a_home_every_folder_is_absolute() -> None:
    assert ids.session_folder_name("/a", home="", temp="/") == "--a--"


def test_the_folder_name_of_a_deep_directory_fits_a_file_system_and_differs_from_its_neighbours() -> None:
    deep = "/srv" + "/überlange-ordner" * 20
    names = [ids.session_folder_name(cwd, home="/home/ada", temp="/tmp") for cwd in (deep, f"{deep}/a", f"{deep}/b")]
    assert len(set(names)) == 3
    assert all(len(name.encode()) <= 240 and name.startswith("--srv-überlange-ordner-") for name in names)
    assert names[0] == ids.session_folder_name(deep, home="/home/ada", temp="/tmp")
