"""What is known of each data set of the paper's Table 1: size, meaning, origin, licence, traps and checksum."""

from dataclasses import dataclass

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
    sha256: str
    feature_names: tuple[str, ...]
    shipped: bool = False

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
        "9d7c4696b61ed04d6b2e4b0c674f8b4a9ce80334b9e9b65de172aa0717588e45",
        tuple(f"A{i}" for i in range(1, 15)),
    ),
    Benchmark(
        "banknote_authentication",
        1372,
        4,
        "class 1 of the banknotes",
        "UCI data set 267, Banknote Authentication (V. Lohweg)",
        _CC_BY,
        "nothing known",
        "8169ee2797daa79779b4f8ba332a985d11f8fe3141dd016c16008ba18152bf97",
        ("variance", "skewness", "curtosis", "entropy"),
        shipped=True,
    ),
    Benchmark(
        "climate_model",
        540,
        18,
        "the simulation succeeded",
        "UCI data set 252, Climate Model Simulation Crashes (D. Lucas and others)",
        _CC_BY,
        "the columns Study and Run are dropped; one class has 46 samples only",
        "53b7ec64c3bde1d2e580015b9d50e5354051227fa7b2388634ce774d804be30d",
        _numbered(18),
    ),
    Benchmark(
        "cylinder",
        539,
        19,
        "the printing cylinder shows bands",
        "UCI data set 32, Cylinder Bands (B. Evans)",
        _CC_BY,
        "the 19 numeric columns only, missing values are 0, one row is dropped",
        "398185b09eeeef99927a4fa768b9dac47dd3c3c6d3f5177e5bf56c2dd7310076",
        _numbered(19),
    ),
    Benchmark(
        "diabetic",
        768,
        8,
        "tested negative for diabetes",
        "Pima Indians Diabetes (National Institute of Diabetes and Digestive and Kidney Diseases)",
        _UNKNOWN,
        "zeros that mean missing values are left as zeros",
        "896439e8505a9ac19fb2ae9c41200b5fe3508f23f01ab3b88fac9e4f10b3e6e1",
        ("pregnancies", "glucose", "blood_pressure", "skin_thickness", "insulin", "bmi", "pedigree", "age"),
    ),
    Benchmark(
        "fourclass",
        862,
        2,
        "one of two classes of points in the plane",
        "LIBSVM data collection (T. K. Ho and E. M. Kleinberg)",
        _UNKNOWN,
        "the boundary is curved: no quadratic one fits it",
        "04775555483dc9fe9fa9e6b2e7ea2a678994bc1aa35d180dfcc7660a6866eadd",
        _numbered(2),
    ),
    Benchmark(
        "haberman",
        306,
        3,
        "the patient survived five years or longer",
        "UCI data set 43, Haberman's Survival (S. Haberman)",
        _CC_BY,
        "the number of nodes is zero for many patients",
        "fe1c079507b17754320b3fc4d10ab6bc35cbd9b09e0bea849471d9d668864fcf",
        ("age", "year_of_operation", "positive_nodes"),
        shipped=True,
    ),
    Benchmark(
        "heart",
        270,
        13,
        "heart disease is present",
        "UCI data set 145, Statlog (Heart)",
        _CC_BY,
        "several features are codes of categories",
        "a66d0e0d63b774f456654b045ce27118e63c7b0e000c4bb9283bc8917c5311f9",
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
        shipped=True,
    ),
    Benchmark(
        "housing",
        506,
        13,
        "the tract bounds the Charles River (CHAS)",
        "Boston Housing (D. Harrison and D. L. Rubinfeld)",
        _UNKNOWN,
        "the price is the last feature, not the label; 35 positive samples only; the column b encodes race",
        "c92c27de96c53203ba4832d960826047f1a131d15f131b3c4c824ae5cc5b75ca",
        ("crim", "zn", "indus", "nox", "rm", "age", "dis", "rad", "tax", "ptratio", "b", "lstat", "medv"),
    ),
    Benchmark(
        "ilpd",
        583,
        10,
        "liver patient",
        "UCI data set 225, ILPD (Indian Liver Patient Dataset; B. Ramana, N. Venkateswarlu)",
        _CC_BY,
        "sex is +1 or -1; four missing ratios are 0",
        "ab9d9e15ee7a4a04202e4411853a15b917b2475f05e28436bddc24f7335a62ba",
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
        shipped=True,
    ),
    Benchmark(
        "mammographic_mass",
        830,
        5,
        "the mass is malignant",
        "UCI data set 161, Mammographic Mass (M. Elter)",
        _CC_BY,
        "rows with missing values are dropped; shape and margin are codes of categories",
        "4b4fcf21af35a3cffafc3b2c36fecf1f008e536354770007158881b18419423f",
        ("bi_rads", "age", "shape", "margin", "density"),
        shipped=True,
    ),
)

BENCHMARKS = {benchmark.name: benchmark for benchmark in _ALL}
