"""Room for labels: by brute force over the points of every line and every box."""

import math
import random
from itertools import combinations, pairwise

import pytest

from symroof.drawing.canvas import Canvas
from symroof.drawing.frame import Frame
from symroof.drawing.label_placement import LabelPlacer, clipped
from symroof.drawing.scales import Scale, log_ticks, power_of_two_ticks, round_values

FRAME = (50.0, 40.0, 450.0, 300.0)


def points_of(line, step=0.5):
    points = []
    for (x0, y0), (x1, y1) in pairwise(line):
        count = max(1, int(math.hypot(x1 - x0, y1 - y0) / step))
        points += [
            (x0 + (x1 - x0) * i / count, y0 + (y1 - y0) * i / count) for i in range(count + 1)
        ]
    return points


def inside(box, point):
    return box[0] < point[0] < box[2] and box[1] < point[1] < box[3]


@pytest.mark.sample(5)
@pytest.mark.parametrize("seed", range(12))
def test_no_label_touches_a_line_a_label_or_the_edge(seed):
    draw = random.Random(seed)
    placer, lines = LabelPlacer(FRAME), []
    for i in range(4):
        line = [(draw.uniform(0, 500), draw.uniform(0, 340)) for _ in range(draw.randint(2, 5))]
        lines.append(line)
        placer.add_line(f"{i}", line)
    boxes = []
    for i in range(10):
        size = (draw.uniform(20, 110), draw.uniform(9, 30))
        spot = (draw.uniform(60, 440), draw.uniform(50, 290))
        centres = [
            placer.beside_line(f"{i % 4}", size),
            placer.near_point(spot, 22.0, size),
            placer.inside_region(lambda _: (FRAME[0], FRAME[2]), size),
        ]
        for centre in centres[:: 1 + i % 3]:
            if centre:
                box = (
                    centre[0] - size[0] / 2,
                    centre[1] - size[1] / 2,
                    centre[0] + size[0] / 2,
                    centre[1] + size[1] / 2,
                )
                if any(
                    a[0] < box[2] and box[0] < a[2] and a[1] < box[3] and box[1] < a[3]
                    for a in boxes
                ):
                    continue  # looked up before the other was taken
                placer.reserve(box)
                boxes.append(box)
    assert len(boxes) >= 5
    for box in boxes:
        assert box[0] >= FRAME[0]
        assert box[1] >= FRAME[1]
        assert box[2] <= FRAME[2]
        assert box[3] <= FRAME[3]
        for line in lines:
            assert not any(inside(box, point) for point in points_of(line))


def test_a_place_is_free_of_what_was_taken_before():
    placer = LabelPlacer(FRAME)
    boxes = []
    for _ in range(12):
        x, y = placer.inside_region(lambda _: (FRAME[0], FRAME[2]), (80, 20))
        boxes.append((x - 40, y - 10, x + 40, y + 10))
        placer.reserve(boxes[-1])
    for a, b in combinations(boxes, 2):
        assert not (a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3])


def test_where_there_is_no_room_there_is_no_place():
    placer = LabelPlacer(FRAME)
    for y in range(40, 300, 8):
        placer.add_line("comb", [(50, y), (450, y)])
    assert placer.inside_region(lambda _: (FRAME[0], FRAME[2]), (40, 12)) is None
    assert placer.beside_line("comb", (40, 12)) is None
    assert placer.near_point((200, 200), 13.0, (40, 12)) is None
    assert placer.beside_line("nothing", (40, 12)) is None


def test_a_label_stays_inside_its_region():
    wedge = lambda y: (FRAME[0] + (y - FRAME[1]), FRAME[0] + 200)  # noqa: E731
    x, y = LabelPlacer(FRAME).inside_region(wedge, (60, 14))
    for height in (y - 7, y + 7):
        assert wedge(height)[0] <= x - 30
        assert x + 30 <= wedge(height)[1]


def test_a_line_to_a_spot_crosses_no_other_label():
    placer = LabelPlacer(FRAME)
    placer.reserve((205, 195, 300, 205))  # right of the spot
    for gap in (13.0, 50.0, 105.0):
        x, y = placer.near_point((200, 200), gap, (60, 12))
        end = (min(max(200, x - 30), x + 30), min(max(200, y - 6), y + 6))
        assert clipped(end, (200, 200), (205, 195, 300, 205)) is None


@pytest.mark.parametrize("seed", range(8))
def test_a_clipped_line_is_what_of_it_lies_inside(seed):
    draw = random.Random(seed)
    a, b = ((draw.uniform(-100, 600), draw.uniform(-100, 500)) for _ in range(2))
    cut = clipped(a, b, FRAME)
    inside_points = [point for point in points_of([a, b], 0.05) if inside(FRAME, point)]
    if cut is None:
        assert inside_points == []
    else:
        assert inside_points
        assert math.dist(cut[0], inside_points[0]) < 0.2
        assert math.dist(cut[1], inside_points[-1]) < 0.2


def test_infinity_is_no_place():
    assert clipped((0, 0), (math.inf, 100), FRAME) is None
    placer = LabelPlacer(FRAME)
    placer.add_line("off", [(100, 100), (100, math.inf)])
    assert not placer.has_line("off")


# --------------------------------------------------------------------------------------------------------- scales


@pytest.mark.parametrize("log", [False, True])
def test_a_scale_goes_there_and_back(log):
    scale = Scale(0.02, 5000, 60, 480, log)
    for value in (0.02, 0.3, 17, 5000):
        assert scale.inverse(scale(value)) == pytest.approx(value)
    assert (scale(0.02), scale(5000)) == (pytest.approx(60), pytest.approx(480))


@pytest.mark.parametrize(
    ("low", "high"), [(0.003, 70), (1, 1.4), (120, 900), (1e-6, 1e9), (5, 5.01)]
)
def test_marks_lie_on_the_axis_in_order(low, high):
    for marks in (*log_ticks(low, high), round_values(low, high)):
        assert marks == sorted(marks)
        assert all(
            low - 1e-6 * (high - low) <= mark <= high + 1e-6 * (high - low) for mark in marks
        )
    assert len(log_ticks(low, high)[0]) >= 2
    for marks in power_of_two_ticks(max(low, 0.1), high):
        assert all(math.log2(mark).is_integer() for mark in marks)


def test_marks_are_thinned_until_they_can_be_read():
    frame = Frame(Canvas(520, 330), Scale(1, 2**20, 60, 490, True), Scale(0, 1, 40, 280))
    frame.axes(
        "x",
        "y",
        power_of_two_ticks,
        lambda low, high: [round_values(low, high)],
        lambda v: f"{v:,.0f}",
        lambda v: f"{v:.2g}",
    )
    boxes = [label.box for label in frame.canvas.labels]
    for a, b in combinations(boxes, 2):
        assert not (a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3])


def test_a_label_without_room_is_listed():
    frame = Frame(Canvas(520, 330), Scale(0, 1, 60, 490), Scale(0, 1, 40, 280))
    for i in range(60):
        frame.curve("comb", [(0, i / 60), (1, i / 60)], "#000000")
    assert not frame.label_point(0.5, 0.5, ("a long name\nin two lines", "short"), "#000000")
    assert not frame.label_point(3, 0.5, ("outside",), "#000000")
    assert frame.unplaced == ["a long name in two lines"]
