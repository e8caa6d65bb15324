# SPDX-License-Identifier: Apache-2.0
"""Matrix products, decompositions, diagonals, Fourier transforms."""
import numpy as np
from specs import ALL, COMPLEX, NUMBERS, D, F, K, T, V

MATRIX = [[4.0, 1.0, 0.5], [1.0, 3.0, -0.5], [0.5, -0.5, 2.0]]  # symmetric, positive
PLAIN = [[2.0, 1.0, 0.5], [-1.0, 3.0, 0.2], [0.3, -0.7, 1.5]]
SOLVERS = ("f32", "f64")
ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


def products(add):
    add.types("MatMul", NUMBERS, a=T(2, 3), b=T(3, 4))
    for a in (False, True):
        for b in (False, True):
            add("MatMul", f"{'t' if a else 'n'}{'t' if b else 'n'}", a=F(*((3, 2) if a else (2, 3))),
                b=F(*((4, 3) if b else (3, 4))), transpose_a=a, transpose_b=b)
            for op in ("BatchMatMul", "BatchMatMulV2"):
                add(op, f"{'a' if a else 'n'}{'a' if b else 'n'}", x=F(2, *((3, 2) if a else (2, 3))),
                    y=F(2, *((4, 3) if b else (3, 4))), adj_x=a, adj_y=b)
    add("MatMul", "empty", a=F(2, 0), b=F(0, 3))
    add("MatMul", "weights", a=F(2, 3, left_open="dims"), b=K(np.eye(3).tolist()))
    for op in ("BatchMatMul", "BatchMatMulV2"):
        add.types(op, NUMBERS, x=T(2, 2, 3), y=T(2, 3, 2))
        add(op, "complex", "c64", x=T(2, 3, 2), y=T(2, 3, 2), adj_x=True)
    add("BatchMatMulV2", "broadcast", x=F(2, 1, 2, 3), y=F(3, 3, 2))
    add("BatchMatMulV2", "matrix", x=F(2, 2, 3), y=F(3, 4))
    add("BatchMatMulV2", "left", x=F(2, 3), y=F(5, 3, 4))
    for kind, out in (("f32", "float32"), ("i8", "int32"), ("u8", "int32"), ("f64", "float64"),
                      ("i32", "int32"), ("bf16", "float32")):
        add("BatchMatMulV3", type=kind, optional=True, x=T(2, 2, 3), y=T(2, 3, 2), Tout=out)
    for equation, *shapes in (("ij,jk->ik", (2, 3), (3, 4)), ("bij,bjk->bik", (2, 2, 3), (2, 3, 2)),
                              ("ij->ji", (2, 3)), ("ii->i", (3, 3)), ("ii->", (3, 3)), ("ij->", (2, 3)),
                              ("...ij,...jk->...ik", (2, 2, 3), (3, 2)), ("i,j->ij", (2,), (3,)),
                              ("abc,cd->abd", (2, 3, 4), (4, 2)), ("bhqd,bhkd->bhqk", (1, 2, 3, 4), (1, 2, 5, 4)),
                              ("bqhd,bkhd->bhqk", (1, 3, 2, 4), (1, 5, 2, 4)), ("i...->...", (2, 3)),
                              ("ij,ij->i", (2, 3), (2, 3)), ("abi,bij->aj", (2, 3, 4), (3, 4, 2))):
        add("Einsum", equation.replace("->", "_to_").replace(",", "_").replace("...", "etc"),
            inputs=[F(*shape) for shape in shapes], equation=equation)
    add.types("Einsum", NUMBERS, "types", inputs=[T(2, 3), T(3, 2)], equation="ij,jk->ik")
    add.types("Cross", NUMBERS, a=T(2, 3), b=T(2, 3))
    add("MatMul", "rank", a=F(2, 3, left_open="rank"), b=F(3, 4, left_open="rank"))


def decompositions(add):
    square = {"f32": PLAIN, "f64": PLAIN}
    for kind in SOLVERS:
        plain, good = V(square[kind], kind), V(MATRIX, kind)
        batch = V([MATRIX, [[2, 0, 0], [0, 3, 1], [0, 1, 2]]], kind)
        add("Cholesky", kind, input=good)
        add("Cholesky", kind + "_batch", input=batch)
        add("MatrixInverse", kind, input=plain)
        add("MatrixInverse", kind + "_adjoint", input=batch, adjoint=True)
        add("MatrixDeterminant", kind, input=plain)
        add("MatrixDeterminant", kind + "_batch", input=batch)
        add("LogMatrixDeterminant", kind, input=plain)
        add("LogMatrixDeterminant", kind + "_batch", input=batch)
        for adjoint in (False, True):
            add("MatrixSolve", f"{kind}_{adjoint}", matrix=plain, rhs=T(3, 2), type=kind, adjoint=adjoint)
            for lower in (False, True):
                add("MatrixTriangularSolve", f"{kind}_{lower}_{adjoint}", kind, matrix=plain,
                    rhs=T(3, 2), lower=lower, adjoint=adjoint)
        add("MatrixTriangularSolve", kind + "_broadcast", kind, matrix=plain, rhs=T(2, 3, 1))
        add("MatrixSolveLs", kind, kind, matrix=T(4, 2), rhs=T(4, 1), l2_regularizer=K(0.0, "f64"), rtol=1e-3)
        add("Qr", kind, kind, input=V([[3, 1], [1, 2], [0.5, -1]], kind))
        add("Qr", kind + "_full", kind, input=V([[3, 1], [1, 2], [0.5, -1]], kind), full_matrices=True)
        add("Svd", kind + "_values", kind, input=T(2, 3, 4), compute_uv=False, outputs=[0])
        add("SelfAdjointEigV2", kind + "_values", input=good, compute_v=False, outputs=[0])
        add("SelfAdjointEigV2", kind + "_batch", input=batch, compute_v=False, outputs=[0])
        add("Lu", kind, input=plain)
        add("TridiagonalMatMul", kind, kind, superdiag=T(1, 4), maindiag=T(1, 4), subdiag=T(1, 4), rhs=T(4, 2))
        add("TridiagonalSolve", kind, kind, diagonals=T(3, 4, low=1, high=2), rhs=T(4, 2))
        add("BandedTriangularSolve", kind, kind, matrix=T(2, 4, low=1, high=2), rhs=T(4, 1))
    add("MatrixSquareRoot", input=V(MATRIX, "c64"))
    add("MatrixLogarithm", input=V(MATRIX, "c64"))
    for op in ("Cholesky", "MatrixInverse", "MatrixDeterminant"):
        add(op, "complex", input=V(MATRIX, "c64"))


def diagonals(add):
    add.types("MatrixBandPart", ALL, input=T(3, 4), num_lower=K(1), num_upper=K(0))
    add("MatrixBandPart", "all_lower", input=F(2, 3, 3), num_lower=K(-1, "i64"), num_upper=K(0, "i64"))
    add("MatrixBandPart", "upper", input=F(4, 3), num_lower=K(0), num_upper=K(-1))
    add("MatrixBandPart", "at_run_time", input=F(4, 3), num_lower=V(1), num_upper=V(1))
    add.types("MatrixDiag", ALL, diagonal=T(2, 3))
    add.types("MatrixDiagPart", ALL, input=T(2, 3, 3))
    add("MatrixDiagPart", "wide", input=F(2, 4))
    add.types("MatrixSetDiag", ALL, input=T(2, 3, 3), diagonal=T(2, 3))
    add("MatrixSetDiag", "tall", input=F(4, 2), diagonal=F(2))
    for version, aligns in (("V2", ("",)), ("V3", ALIGNMENTS)):
        for align in aligns:
            extra = {"align": align} if align else {}
            name = align or "plain"
            add("MatrixDiag" + version, name, diagonal=F(2, 3), k=K([0, 1]), num_rows=K(3), num_cols=K(4),
                padding_value=K(9.0), **extra)
            add("MatrixDiagPart" + version, name, input=F(3, 4), k=K([-1, 1]), padding_value=K(9.0), **extra)
            add("MatrixSetDiag" + version, name, input=F(3, 4), diagonal=F(2, 3), k=K([0, 1]), **extra)
    for version in ("V2", "V3"):
        add("MatrixDiag" + version, "single", diagonal=F(3), k=K(1), num_rows=K(-1), num_cols=K(-1),
            padding_value=K(0.0))
        add("MatrixDiag" + version, "below", diagonal=F(2, 3), k=K(-1), num_rows=K(-1), num_cols=K(-1),
            padding_value=K(0.0))
        add("MatrixDiagPart" + version, "single", input=F(2, 3, 4), k=K(0), padding_value=K(0.0))
        add("MatrixDiagPart" + version, "above", input=F(3, 4), k=K(2), padding_value=K(0.0))
        add("MatrixSetDiag" + version, "single", input=F(2, 3, 4), diagonal=F(2, 3), k=K(0))
        add("MatrixSetDiag" + version, "below", input=F(3, 4), diagonal=F(2), k=K(-1))
        add.types("MatrixDiagPart" + version, ALL, "types", input=T(3, 3), k=K(0),
                  padding_value=V(0, "", constant=True))
    add.types("Diag", NUMBERS, diagonal=T(3))
    add("Diag", "matrix", diagonal=F(2, 3))
    add.types("DiagPart", NUMBERS, input=T(3, 3))
    add("DiagPart", "cube", input=F(2, 3, 2, 3))


def transforms(add):
    for op in ("FFT", "IFFT"):
        for dims, shape in (("", (2, 6)), ("2D", (2, 3, 4)), ("3D", (2, 3, 4))):
            add.types(op + dims, COMPLEX, input=T(*shape))
        add(op, "prime", "c64", input=T(7))
    for dims, shape, length in (("", (2, 6), [6]), ("2D", (2, 3, 4), [3, 4]), ("3D", (2, 3, 4), [2, 3, 4])):
        add("RFFT" + dims, input=F(*shape), fft_length=K(length))
        add("RFFT" + dims, "double", input=D(*shape), fft_length=K(length), Tcomplex="complex128")
        add("RFFT" + dims, "shorter", input=F(*shape), fft_length=K([n - 1 for n in length]))
        half = (*shape[:-1], shape[-1] // 2 + 1)
        add("IRFFT" + dims, "c64", "c64", input=T(*half), fft_length=K(length), rtol=1e-3)


def cases(add):
    products(add)
    decompositions(add)
    diagonals(add)
    transforms(add)
