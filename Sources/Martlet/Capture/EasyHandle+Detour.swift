#if os(Linux)
import CMartletHooks

extension EasyHandle {
    /// Whether libcurl has the functions that rules need. To be read before any use of the methods below.
    static let canDetour = hasLibcurl && martlet_find_detour_functions()

    /// Takes all detours back for the handle's next transfer.
    func endDetour() { martlet_end_detour(raw) }

    /// Sets or, for `nil`, removes a header field of the request that is about to be written (CURLOPT_HTTPHEADER).
    func replaceHeader(_ name: String, by value: String?) {
        guard let list = Self.headerList(of: object) else { return CaptureSwitch.note(.noHeaders) }
        let line =
            switch value {
            case nil: "\(name):"
            case "": "\(name);"
            case .some(let value): "\(name): \(value)"
            }
        _ = martlet_replace_header(list, name, line)
    }
}
#endif
