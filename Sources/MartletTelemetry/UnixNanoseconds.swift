/// A point in time as OTLP writes it: nanoseconds since 1970-01-01T00:00:00Z.
package typealias UnixNanoseconds = UInt64
