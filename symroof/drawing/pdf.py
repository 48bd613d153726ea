"""PDF output: one page of vectors and Helvetica text, tagged as a figure with an alternative text."""

from symroof.drawing.canvas import Canvas, Point, Polyline, TextLine
from symroof.drawing.svg import number


def pdf(canvas: Canvas, title: str, description: str) -> bytes:
    """The drawing as a reproducible PDF file without a date."""
    drawn = "\n".join(
        _shape(item) if isinstance(item, Polyline) else _words(item) for item in canvas.items
    )
    content = f"/Figure <</MCID 0>> BDC\n{drawn}\nEMC\n".encode("cp1252", "replace")
    page = f"0 {number(-canvas.below)} {number(canvas.width)} {number(canvas.height)}"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R/Lang(en)/MarkInfo<</Marked true>>/StructTreeRoot 8 0 R/ViewerPreferences<</DisplayDocTitle true>>>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        f"<</Type/Page/Parent 2 0 R/MediaBox[{page}]/Contents 4 0 R/StructParents 0/Resources<</Font<</F1 5 0 R/F2 6 0 R>>>>>>".encode(),
        f"<</Length {len(content)}>>\nstream\n".encode() + content + b"endstream",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>",
        f"<</Title {_unicode(title)}/Subject {_unicode(description)}>>".encode(),
        b"<</Type/StructTreeRoot/K 9 0 R/ParentTree<</Nums[0[9 0 R]]>>>>",
        f"<</Type/StructElem/S/Figure/P 8 0 R/Pg 3 0 R/K 0/Alt {_unicode(description)}>>".encode(),
    ]
    return _file(objects)


def _file(objects: list[bytes]) -> bytes:
    """Objects with the cross-reference table; the seventh is the document information."""
    made, places = b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n", []
    for i, content in enumerate(objects, start=1):
        places.append(len(made))
        made += f"{i} 0 obj\n".encode() + content + b"\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n<</Size {len(objects) + 1}/Root 1 0 R/Info 7 0 R>>\nstartxref\n{len(made)}\n%%EOF\n"
    return made + end.encode()


def _unicode(text: str) -> str:
    return f"<FEFF{text.encode('utf-16-be').hex().upper()}>"


def _rgb(colour: str) -> str:
    return " ".join(number(int(colour[i : i + 2], 16) / 255) for i in (1, 3, 5))


def _path(points: tuple[Point, ...], closed: bool) -> str:
    pairs = [f"{number(x)} {number(y)}" for x, y in points]
    return f"{pairs[0]} m {' '.join(f'{pair} l' for pair in pairs[1:])}{' h' if closed else ''}"


def _shape(shape: Polyline) -> str:
    set_up = [f"{_rgb(shape.fill)} rg"] if shape.fill else []
    if shape.stroke:
        set_up += [
            f"{_rgb(shape.stroke)} RG",
            f"{number(shape.width)} w",
            "1 j",
            f"[{' '.join(map(number, shape.dash))}] 0 d",
        ]
    clip = f"{_path(shape.clip, True)} W n " if shape.clip else ""
    paint = "B" if shape.fill and shape.stroke else "f" if shape.fill else "S"
    return f"q {clip}{' '.join(set_up)} {_path(shape.points, shape.closed)} {paint} Q"


def _words(words: TextLine) -> str:
    escaped = "".join(
        f"\\{c}" if c in "()\\" else c if c.isprintable() else " " for c in words.text
    )
    return f"BT /F{2 if words.bold else 1} {number(words.size)} Tf {_rgb(words.colour)} rg {number(words.x)} {number(words.y)} Td ({escaped}) Tj ET"
