import ServiceLifecycle

/// A service that answers at an address. If it cannot, its error names the address, which may be one of two.
struct Serving: Service {
    let service: any Service
    let url: String

    func run() async throws {
        do { try await service.run() } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw ServingFailure(description: "cannot serve at \(url): \(error)")
        }
    }
}

struct ServingFailure: Error, CustomStringConvertible {
    var description: String
}
