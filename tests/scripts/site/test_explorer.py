"""The explorer as a page: its size, its questions, its addresses, its keys, its looks, its speed."""

import json
import re
from statistics import median_low

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dynamics.scope.heads import checkpoint_scopes
from dynamics.training.checkpoint import SHIPPED
from tests.scripts.site.browser import PAGE, ask, ask_all, faults, look, opened, settle
from theory import alibi, landscape
from theory.landscape import printed
from theory.landscape.grid import angle_between, slice_grid


def test_the_page_is_small_and_loads_nothing():
    text = PAGE.read_text("utf-8")
    assert len(text.encode()) <= 63_000
    assert not [word for word in ("src=", "http:", "https:", "import(", "fetch(", "@import", "url(") if word in text]


def test_what_the_first_question_answers(page):
    """At T = 4 Eq. 10 as printed leaves the box's corner (1, 0) a basin of its own; the loss and the listing do not."""
    box = "{slice: true, walls: true, model: s}"
    start = "[.75, .25, .4, .6]"
    ends = ask_all(
        page, f"(f => f.path[f.path.length - 1])(x.flow({start}, 4, {box}))", ["exact", "equation", "listing"]
    )
    assert_allclose(ends, [[0, 1, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0]], atol=1e-9)
    corner = printed.printed_grid(0, printed.EQUATION, 2)
    assert corner.d_alpha1[1, 0] < 0 < corner.d_beta1[1, 0]
    share = ask_all(page, "x.endsWell([s[0], 1 - s[0], s[1], 1 - s[1]], 4, 1, null, 1, true, true)",
                    [[(i + 0.5) / 20, (j + 0.5) / 20] for i in range(20) for j in range(20)])  # fmt: skip
    assert 0.25 < 1 - np.mean(share) < 0.4


def test_what_the_other_questions_answer(page):
    run = "(f => [f.learned, f.path[f.path.length - 1]])(x.flow(s, 12, {slice: true}))"
    [(learned, end)] = ask_all(page, run, [[1.5, -0.5, -0.5, 1.5]])
    gradient = landscape.gradient(*end, 12)
    assert learned is None and landscape.loss(*end, 12) > np.log(12)
    assert_allclose([gradient[0] - gradient[1], gradient[2] - gradient[3]], 0, atol=1e-8)
    starts = [[a, 1 - a, b, 1 - b] for a in np.linspace(0, 1, 15) for b in np.linspace(0, 1, 15)]
    assert np.mean(ask_all(page, "x.endsWell(s, 2, 0, 'mean', 1, true, true)", starts)) < 0.5
    ends = ask_all(
        page, "x.flow(s, 2, {position: 'mean', slice: true, walls: true}).path.pop()", [[0.6, 0.4, 0.4, 0.6]]
    )
    assert_allclose(ends, [[1, 0, 0, 1]], atol=1e-9)
    slopes = alibi.slopes(16)
    assert (slopes[3], slopes[15]) == (1 / 4, 1 / 256)
    opened(page, "#pane=alibi")
    said, spread = page.find_element("id", "answer").text, ask(page, "return x.state().D;")
    assert f"is {spread}, as for the median head" in said
    assert all(f" {np.ceil(alibi.scope(slopes[k], spread, 1e-3)):.0f}" in said for k in (3, 15))


def test_the_alibi_pane_starts_from_the_ranges_of_what_ships(page):
    found = sorted(head.logit_range for head in checkpoint_scopes(SHIPPED / "alibi-text", eps=1e-3))
    opened(page, "#pane=alibi")
    offered = ask(page, "return [...document.getElementById('ranges').options].slice(1).map(o => [o.text, +o.value]);")
    assert_allclose([value for _, value in offered], [found[0], median_low(found), found[-1]], rtol=5e-5)
    assert [f"of {len(found)}: " in name for name, _ in offered] == [True] * 3
    assert ask(page, "return x.state().D;") == offered[1][1]
    text = page.find_element("id", "alibi").text
    assert f"all {len(found)} heads" in text and "scripts scope MODEL --eps" in text
    page.find_element("css selector", f"#ranges option[value='{offered[2][1]}']").click()
    assert ask(page, "return x.state().D;") == offered[2][1]


def test_the_sentences_say_the_librarys_numbers(page):
    opened(page, "#pane=loss&T=4&a1=0.55&b1=0.75")
    exact, equation = (page.find_element("id", f"say{k}").text for k in (0, 1))
    assert f"loss {landscape.loss(0.55, 0.45, 0.75, 0.25, 4):.5f} " in exact
    span = (0.55, 0.65), (0.75, 0.85)
    angle = angle_between(slice_grid(4, 2, *span), printed.printed_grid(0, printed.EQUATION, 2, *span))[0, 0]
    assert f"descent starts {np.degrees(angle):.2f}° off" in equation
    assert f"{landscape.learning_time(0.45, 0.75, 4).value:.5f}" in page.find_element("id", "time").text
    opened(page, "#pane=alibi&slope=0.5&D=20&eps=0.01&W=30&N=100")
    said = [e.text for e in page.find_elements("css selector", "dd")]
    wanted = [alibi.scope(0.5, 20, 0.01), alibi.window_for_mass(0.5, 20, 0.01), (20 - np.log(0.01)) / 0.5,
              alibi.weight_bound(30, 0.5, 20), alibi.dropped_mass_bound(30, 0.5, 20),
              alibi.dropped_mass_bound(30, 0.5, 20, 100)]  # fmt: skip
    assert_allclose([float(text) for text in said[:6]], wanted, rtol=1e-5)
    assert "may forget 50:" in page.find_element("id", "strip-say").text


def test_every_state_is_an_address(page):
    changes = [
        {"T": 104, "pos": "last", "plane": "a2b1", "a1": 0.125, "a2": 0.3, "b1": 1 / 3, "b2": -2.5,
         "walls": 0, "view": "wide"},
        {"T": 2, "pos": "interior", "plane": "slice", "a1": 0.1, "b1": 0.7, "tau": 0.30000000000000004, "basins": 0},
        {"pane": "alibi", "slope": 2**-0.5, "D": 33.3, "eps": 1e-7, "W": 1000, "N": 65536},
    ]  # fmt: skip
    for change in changes:
        opened(page, "#")
        state = ask(page, f"return x.set({json.dumps(change)});")
        fragment = ask(page, "return x.fragment();")
        opened(page, fragment)
        assert ask(page, "return x.state();") == state
        assert page.find_element("id", "notes").text == ""
    state = ask(page, "x.set({T: 'abc', a1: Infinity, pane: 'nowhere', plane: 7, other: 3, D: ''}); return x.state();")
    assert state["T"] == 12 and state["D"] == 33.3 and state["pane"] == "alibi" and "other" not in state
    assert ask(page, "return x.set({pane: 'loss', T: 1e99, a1: -50, walls: 0, plane: 'a1b1'});")["T"] == 1_000_000


REFUSED = """
    T=1e9 | T = 1e9 was not taken (whole, 2 to 1000000); T is 1000000.
    T=1 | T = 1 was not taken (whole, 2 to 1000000); T is 2.
    T=12.4 | T = 12.4 was not taken (whole, 2 to 1000000); T is 12.
    T=many | T = many was not taken (whole, 2 to 1000000); T is 12.
    tau=0 | tau = 0 was not taken (0.1 to 10); tau is 0.1.
    pane=alibi&eps=2 | eps = 2 was not taken (1e-12 to 0.999); eps is 0.999.
    slope=9 | slope = 9 was not taken (0.0000152587890625 to 4); slope is 4.
    D=-1 | D = -1 was not taken (0 to 400); D is 0.
    W=-1&N=0 | W = -1 was not taken (whole, 0 to 10000000); W is 0. N = 0 was not taken (whole, 1 to 10000000); N is 1.
    pane=both | pane = both was not taken (one of loss, alibi); pane is loss.
    plane=b1a2 | plane = b1a2 was not taken (one of slice, a2b1, a1b1, a1b2, a2b2); plane is slice.
    a1=2 | a1 = 2 was not taken (0 to 1); a1 is 1.
    walls=0&b1=7 | b1 = 7 was not taken (-6 to 6); b1 is 6.
    a1=0.5&a2=0.7 | a2 = 0.7 was not taken (on the slice it is 1 - a1); a2 is 0.5.
    view=wide | view = wide was not taken (walls = 1 keeps to the box); view is box.
    T=3&pos=interior | pos = interior was not taken (with T = 3: mean, first, last, end); pos is mean.
    T=2&pos=first | pos = first was not taken (with T = 2: mean, last, end); pos is last.
    walls=2 | walls = 2 was not taken (one of 0, 1); walls is 1.
    colour=red | colour = red was not taken: there is no such name.
    T=24&b1=0.25&pos=last |
"""


@pytest.mark.parametrize("case", REFUSED.strip().splitlines())
def test_an_address_out_of_range_is_said_and_what_holds_instead(page, case):
    address, said = map(str.strip, case.split("|"))
    opened(page, "#" + address)
    notes = page.find_element("id", "notes")
    assert notes.text == said and notes.get_attribute("aria-live") == "polite"
    ask(page, "x.set({b1: .25}); return 0;")
    assert notes.text == ""


def test_a_flat_map_is_told_from_one_that_is_not(page):
    opened(page, "#T=1e6&tau=10")
    ends = re.search(r"runs from ([\d.]+) to ([\d.]+)\.", page.find_element("id", "say0").text).groups()
    field = ask(page, "const {low, high} = x.map(0); return [low, high];")
    assert np.diff([float(end) for end in ends]) == pytest.approx(np.diff(field), rel=0.5)
    opened(page, "#T=1e6&tau=10&plane=a1b1&a2=0&b2=0")
    assert "The map is flat: 13.8155 everywhere" in page.find_element("id", "say0").text


def test_each_question_has_an_answer_at_its_address(page):
    opened(page, "#")
    links = ask(
        page,
        "return [...document.querySelectorAll('[data-answer]')].map(a => [a.getAttribute('href'), a.dataset.answer]);",
    )
    assert len(links) == 5
    for link, answer in links:
        opened(page, link)
        assert ask(page, "return document.getElementById('answer').textContent;") == answer
        assert ask(page, "return x.fragment();") == link
    page.execute_script("document.querySelector('[data-answer]').click()")
    page.execute_async_script("addEventListener('hashchange', () => arguments[0]()); setTimeout(arguments[0], 500);")
    settle(page)
    assert ask(page, "return x.state().T;") == 4


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_no_pane_has_a_fault_in_any_window(page, width, dark):
    for pane in (
        "#pane=loss&T=1000&pos=mean",
        "#pane=loss&T=2&pos=mean&view=wide&walls=0",
        "#pane=alibi&D=400&eps=1e-12",
    ):
        opened(page, pane, width, dark)
        assert faults(page) == []


def test_keys_reach_and_move_everything(page):
    from selenium.webdriver.common.keys import Keys

    opened(page, "#pane=loss&T=12")
    found = "[...document.querySelectorAll('input, select, button, canvas, a[href]')].filter(e => e.offsetParent)"
    wanted = ask(page, f"return {found}.map(e => e.id || e.textContent);")
    seen = set()
    for _ in range(len(wanted) + 5):
        page.switch_to.active_element.send_keys(Keys.TAB)
        seen.add(ask(page, "const e = document.activeElement; return e.id || e.textContent;"))
    assert set(wanted) <= seen
    canvas = page.find_element("id", "map0")
    canvas.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_UP, Keys.SHIFT + Keys.ARROW_UP)
    state = ask(page, "return x.state();")
    assert (state["a1"], state["b1"], state["a2"]) == pytest.approx((0.51, 0.61, 0.49))
    page.find_element("id", "in-T").send_keys(Keys.ARROW_RIGHT * 30)
    assert ask(page, "return x.state().T;") > 12


def test_a_click_moves_the_point_there(page):
    from selenium.webdriver import ActionChains

    opened(page, "#pane=loss&T=12")
    look(page, 1280, 1600)  # the whole map in view: offsets count from the middle of what is
    canvas = page.find_element("id", "map1")
    ActionChains(page).move_to_element_with_offset(canvas, 17, -60).click().perform()
    settle(page)
    state = ask(page, "return x.state();")
    side = canvas.size["width"] - 42
    assert state["a1"] == pytest.approx((canvas.size["width"] / 2 + 17 - 34) / side, abs=0.02)
    assert state["b1"] == pytest.approx(1 - (canvas.size["height"] / 2 - 60 - 8) / side, abs=0.02)
    assert "From (" in page.find_element("id", "say1").text


def test_without_scripts_it_says_so(page):
    opened(page, "", javascript=False)
    look(page, 1280, 900)
    assert "needs JavaScript" in page.page_source
    opened(page, "#")


def dragged(page, change, seconds):
    """Frames a second, and the milliseconds of the median frame's own work, while each frame changes the state."""
    script = """
      const [change, seconds, done] = arguments, x = explorer, began = performance.now(), from = x.frames().length;
      let n = 0;
      (function frame() {
        const t = performance.now() - began;
        if (t > 1000 * seconds) {
          const own = x.frames().slice(-n).sort((p, q) => p - q);
          return done([n / t * 1000, own[own.length >> 1]]);
        }
        x.set(new Function("n", "return " + change)(n++));
        requestAnimationFrame(frame);
      })();
    """
    return page.execute_async_script(script, change, seconds)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("fragment", "change", "most"),
    [("#pane=loss&T=12", "({a1: .5 + .4 * Math.sin(n / 20), b1: .5 + .4 * Math.cos(n / 20)})", 12.0),
     ("#pane=loss&T=12", "({T: 5 + n % 300})", 40.0), ("#pane=alibi", "({slope: .1 + .001 * n})", 12.0)],
)  # fmt: skip
def test_sixty_frames_a_second_while_dragging_and_each_is_short(page, fragment, change, most):
    """The median frame's own work in ms, with room for a machine that does other things."""
    opened(page, fragment)
    dragged(page, change, 1.0)
    rate, own = dragged(page, change, 3.0)
    assert rate >= 50 and own <= most
