/// The transport of uploads, and the warning about it.
struct TransportChoice: Equatable {
    typealias Transport = MartletConfiguration.Transport

    let transport: Transport
    let warning: String?

    /// Whether `URLSession` gives an error for an answer that ends within its head. Before Swift 6.4 it ends the process
    /// on Linux, where Foundation comes with the toolchain.
    static let isURLSessionSound: Bool = {
        #if !os(Linux) || compiler(>=6.4)
        true
        #else
        false
        #endif
    }()

    /// - Parameters:
    ///   - asked: the transport that the configuration asks for; `nil` for the one that suits.
    ///   - hasLibcurl: whether libcurl's functions were found in the process.
    ///   - variablesNeedingLibcurl: the variables that ask for something that `URLSession` on Linux cannot do.
    ///   - isForkedChild: whether the process was forked from one with an agent. `URLSession` answers there only if the parent
    ///     used neither queues nor tasks nor `URLSession`.
    init(
        asked: Transport?, hasLibcurl: Bool, variablesNeedingLibcurl variables: [String],
        isForkedChild: Bool = ForkedChild.isHere, isURLSessionSound: Bool = Self.isURLSessionSound
    ) {
        let names = variables.joined(separator: ", ")
        let needsLibcurl = isForkedChild || !variables.isEmpty
        let suited: Transport = isURLSessionSound ? .urlSession : .libcurl
        let wanted = needsLibcurl ? .libcurl : asked ?? suited
        transport = wanted == .libcurl && !hasLibcurl ? .urlSession : wanted
        switch (wanted, transport) {
        case (.libcurl, .urlSession) where !variables.isEmpty:
            warning =
                "Uploads go over URLSession, which does not support \(names), because libcurl is not in this process"
        case (.libcurl, .urlSession) where asked == .libcurl:
            warning = "Uploads go over URLSession: MARTLET_TRANSPORT asks for libcurl, which is not in this process"
        case (.libcurl, .urlSession):
            warning =
                """
                Uploads go over URLSession, because libcurl is not in this process; \
                before Swift 6.4, an answer that is cut off within its head crashes the process
                """
        case (.libcurl, .libcurl) where asked == .urlSession && !variables.isEmpty:
            warning = "Uploads go over libcurl, because URLSession does not support \(names)"
        case (.libcurl, .libcurl) where asked == .urlSession:
            warning = "Uploads of this forked child go over libcurl, because URLSession may not answer in it"
        default: warning = nil
        }
    }
}
