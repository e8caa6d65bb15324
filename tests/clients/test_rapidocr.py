# SPDX-License-Identifier: Apache-2.0
"""RapidOCR's CANN engine, as published, reads what its CPU engine reads."""
import cv2
import numpy as np
import pytest
from rapidocr import RapidOCR

LINES = ["AnyNPU runs programs", "without a card 2026", "OCR on a CPU"]


@pytest.fixture(scope="module")
def picture():
    page = np.full((360, 800, 3), 255, np.uint8)
    for i, line in enumerate(LINES):
        cv2.putText(page, line, (40, 90 + 100 * i), cv2.FONT_HERSHEY_SIMPLEX, 1.6, (0, 0, 0), 3,
                    cv2.LINE_AA)
    return page


def read(picture, use_cann):
    engine = RapidOCR(params={"EngineConfig.onnxruntime.use_cann": use_cann})
    result = engine(picture)
    return list(result.txts), np.array(result.scores)


def test_a_drawn_text_is_read_as_on_the_cpu(picture):
    texts, scores = read(picture, True)
    expected, expected_scores = read(picture, False)
    assert texts == expected
    assert [t.replace(" ", "") for t in texts] == [line.replace(" ", "") for line in LINES]
    np.testing.assert_allclose(scores, expected_scores, atol=1e-3)
