# A recipe for Spack; see README.md for its use.
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import conflicts, depends_on, license, variant, version, when


class Chexbench(CMakePackage, CudaPackage):
    """Says whether the input pipeline of a training starves its accelerators, by how much, and what would fix it."""

    license("Apache-2.0")

    # README.md puts the path of your clone here. The committed state is built.
    git = "file:///path/of/your/clone"

    version("0.1.0", branch="main")

    variant("mpi", default=True, description="Ranks over MPI; else a world of one")
    variant("onednn", default=True, description="Engine onednn, which trains on CPUs")
    variant("opencv", default=True, description="Other images than 8-bit PNGs and JPEGs")
    variant("jpeg", default=True, description="JPEGs by libjpeg-turbo")
    variant("dicom", default=True, description="DICOM files by DCMTK")
    variant("isal", default=True, description="Inflate PNGs by ISA-L, at about twice zlib's speed")
    variant("http", default=True, description="Data sets on http:// and s3://")
    variant("nfs", default=True, description="Data sets on nfs://")
    variant("nccl", default=False, when="+cuda", description="Average gradients of GPUs by NCCL")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("fmt@9:")
    depends_on("spdlog@1.10:")
    depends_on("nlohmann-json@3.11:")
    depends_on("cli11@2.1:")
    depends_on("zlib-api")

    depends_on("mpi", when="+mpi")
    depends_on("onednn@2.6:3", when="+onednn")
    depends_on("opencv@4.6:4 +imgproc +imgcodecs", when="+opencv")
    depends_on("libjpeg-turbo", when="+jpeg")
    depends_on("dcmtk@3.6.7:", when="+dicom")
    depends_on("isa-l@2.30:", when="+isal")
    with when("+http"):
        depends_on("curl")
        depends_on("openssl@3:")
        depends_on("pugixml")
    depends_on("libnfs@4:", when="+nfs")
    depends_on("cudnn@9:", when="+cuda")
    depends_on("nccl@2:", when="+nccl")

    conflicts("%gcc@:11", msg="C++20 as of GCC 12 is needed")
    conflicts("cuda_arch=none", when="+cuda", msg="say for which GPUs: cuda_arch=90")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define("CHEXBENCH_TESTS", False),
            self.define("CMAKE_UNITY_BUILD", True),  # takes a third of the time
            # Spack has no package of these two: the system's must not be used by accident.
            self.define("CHEXBENCH_WITH_nvml", "+cuda" in self.spec),
            self.define("CHEXBENCH_WITH_cupti", False),
            self.define_from_variant("CHEXBENCH_WITH_mpi", "mpi"),
            self.define_from_variant("CHEXBENCH_WITH_dnnl", "onednn"),
            self.define_from_variant("CHEXBENCH_WITH_opencv", "opencv"),
            self.define_from_variant("CHEXBENCH_WITH_jpeg", "jpeg"),
            self.define_from_variant("CHEXBENCH_WITH_dcmtk", "dicom"),
            self.define_from_variant("CHEXBENCH_WITH_isal", "isal"),
            self.define_from_variant("CHEXBENCH_WITH_nfs", "nfs"),
            self.define_from_variant("CHEXBENCH_WITH_cudnn", "cuda"),
            self.define("CHEXBENCH_WITH_nccl", "+nccl" in self.spec),
        ]
        for library in ("curl", "crypto", "pugi"):
            args.append(self.define_from_variant(f"CHEXBENCH_WITH_{library}", "http"))
        if "+cuda" in self.spec:
            architectures = [f"{arch}-real" for arch in self.spec.variants["cuda_arch"].value]
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", ";".join(architectures)))
        return args
