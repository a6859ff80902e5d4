import Foundation

extension Outbox {
    /// The sums of the batches that were delivered; `nil` if none are kept, or they cannot be read.
    var sums: CumulativeSums? {
        FileManager.default.contents(atPath: path(CumulativeSums.fileName)).flatMap { CumulativeSums(file: Array($0)) }
    }

    /// Keeps the sums through a power cut. If they cannot be stored, the old ones go: streams that begin anew are right, and
    /// sums that fall back are not.
    func keep(_ sums: CumulativeSums) {
        let path = path(CumulativeSums.fileName)
        do {
            try WholeFile.replace(path, with: sums.file(), in: directory.path)
        } catch {
            unlink(path)
        }
    }

    /// Removes the sums, because batches are about to be delivered that they would lack.
    func removeSums() { unlink(path(CumulativeSums.fileName)) }
}
