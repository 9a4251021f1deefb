"Where files are kept, and that they are written whole or not at all."
import pytest

from fields import field
from ubic import datasets
from ubic.files import save_field, write_atomically


@pytest.mark.parametrize("variable, expected", [
    ("UBIC_CACHE", "."), ("XDG_CACHE_HOME", "ubic"), ("HOME", ".cache/ubic"),
])
def test_folder_follows_the_environment(variable, expected, tmp_path, monkeypatch):
    for name in ("UBIC_CACHE", "XDG_CACHE_HOME"): monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, str(tmp_path))
    assert datasets.cache_folder() == tmp_path/expected


def test_writing_whole_or_not_at_all(tmp_path):
    with pytest.raises(ValueError, match="no folder .*nowhere"): save_field(field(), tmp_path / "nowhere" / "a.npz")
    with pytest.raises(ValueError, match="is a folder"): write_atomically(tmp_path, lambda file: None)
    with pytest.raises(TypeError, match="`path` is None"): save_field(field(), None)
    (tmp_path / "a.txt").write_text("old")
    def fail(file):
        file.write(b"new")
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt): write_atomically(tmp_path / "a.txt", fail)
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]
    assert write_atomically(str(tmp_path / "a.txt"), lambda file: file.write(b"new")).read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 1
