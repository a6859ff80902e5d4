import Foundation

/// The times of a file. Darwin has other names for them.
extension stat {
    /// When its contents were last changed.
    var modification: timespec {
        #if canImport(Darwin)
        st_mtimespec
        #else
        st_mtim
        #endif
    }

    /// When its contents or its owner, name or links were last changed.
    var statusChange: timespec {
        #if canImport(Darwin)
        st_ctimespec
        #else
        st_ctim
        #endif
    }
}
