"""One page in three forms: what a reader of each finds in it."""

import io
import re
import shutil
import subprocess
import zlib
from xml.etree import ElementTree

import pytest

from symroof.drawing.canvas import Canvas, corners
from symroof.drawing.pdf import pdf
from symroof.drawing.png import png
from symroof.drawing.svg import svg

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def page():
    canvas = Canvas(200, 100, below=20)
    canvas.area(corners((10, 10, 110, 60)), "#FF0000")
    canvas.line([(0, 90), (200, 90)], "#0000FF", 2, (4, 2))
    canvas.hatched(corners((120, 10, 180, 60)), (120, 10, 180, 60), "#999999")
    canvas.marker((50, 50), "diamond", "#009E73")
    canvas.text("x < 3 & (y) \\ 2 × µ\nnext 模", 20, 70, 9, bold=True)
    canvas.text("note", 6, -12, 8)
    return canvas


def test_an_svg_has_a_title_a_description_and_its_words(page):
    root = ElementTree.fromstring(svg(page, "T <1>", "D & \x07 more"))
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text == "T <1>"
    assert root.find(f"{SVG}desc").text == "D &   more"
    assert root.get("viewBox") == "0 0 200 120"
    texts = {node.text: node for node in root.iter(f"{SVG}text")}
    assert set(texts) == {"x < 3 & (y) \\ 2 × µ", "next 模", "note"}
    assert float(texts["note"].get("y")) == 112  # y downwards, the page grown below
    assert float(texts["note"].get("textLength")) == pytest.approx(
        8 * (0.556 + 0.556 + 0.278 + 0.556), abs=0.01
    )


def test_everything_of_an_svg_that_is_referred_to_is_there(page):
    root = ElementTree.fromstring(svg(page, "t", "d"))
    known = {node.get("id") for node in root.iter() if node.get("id")}
    used = set(re.findall(r"url\(#(\w+)\)", svg(page, "t", "d").decode()))
    assert used
    assert used <= known


def test_a_pdf_says_where_its_objects_begin(page):
    made = pdf(page, "Title é", "Described")
    start = int(re.search(rb"startxref\n(\d+)", made)[1])
    assert made[start:].startswith(b"xref")
    for number, place in enumerate(re.findall(rb"(\d{10}) 00000 n", made), start=1):
        assert made[int(place) :].startswith(f"{number} 0 obj".encode())
    length = int(re.search(rb"/Length (\d+)", made)[1])
    stream = made.partition(b"stream\n")[2].partition(b"endstream")[0]
    assert len(stream) == length
    assert "Title é".encode("utf-16-be").hex().upper().encode() in made
    assert (
        made.count("Described".encode("utf-16-be").hex().upper().encode()) == 2
    )  # as the subject, and as what stands for the figure
    assert b"/MediaBox[0 -20 200 100]" in made


@pytest.mark.skipif(not shutil.which("pdftotext"), reason="needs poppler")
def test_a_pdf_can_be_read_by_others(page, tmp_path):
    (tmp_path / "page.pdf").write_bytes(pdf(page, "t", "d"))
    done = subprocess.run(
        ["pdftotext", str(tmp_path / "page.pdf"), "-"], capture_output=True, check=True
    )
    text = done.stdout.decode()
    assert "x < 3 & (y) \\ 2 × µ" in text
    assert "next ?" in text  # a letter that its fonts do not have
    assert "note" in text
    assert done.stderr == b""


def test_a_png_shows_each_colour_where_it_was_drawn(page):
    from matplotlib.image import imread

    made = png(page, "t", "d")
    pixels = imread(io.BytesIO(made))
    height, width = pixels.shape[:2]
    assert (width, height) == (int(200 / 72 * 200), int(120 / 72 * 200))

    def at(x, y):
        return tuple(
            round(float(part), 2)
            for part in pixels[int((100 - y) / 120 * height), int(x / 200 * width)][:3]
        )

    assert at(20, 20) == (1, 0, 0)
    assert at(2, 90) == (0, 0, 1)
    assert at(195, 5) == (1, 1, 1)
    assert b"Description" in made


def test_the_same_page_gives_the_same_bytes(page):
    for write in (svg, pdf, png):
        assert write(page, "t", "d") == write(page, "t", "d")
    assert zlib.crc32(svg(page, "t", "d")) != zlib.crc32(svg(page, "t", "e"))
