import Foundation
import FoundationNetworking
import Hummingbird

extension URLSession {
    /// Returns the decoded answer of a service. If its status is a 4xx, throws that status. If the service failed or did not
    /// answer, throws a bad gateway. If the body cannot be decoded, throws a decoding error.
    func value<Value: Decodable>(for request: URLRequest) async throws -> Value {
        guard let (body, response) = try? await data(for: request), let response = response as? HTTPURLResponse else {
            throw HTTPError(.badGateway)
        }
        switch response.statusCode {
        case 200..<300: return try JSONDecoder().decode(Value.self, from: body)
        case 400..<500: throw HTTPError(.init(code: response.statusCode))
        default: throw HTTPError(.badGateway)
        }
    }
}
