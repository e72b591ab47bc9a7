#if canImport(SwiftUI)
    import SwiftUI

    /// The value of a typed key in a SwiftUI view, which is drawn anew when it changes, whoever
    /// changes it.
    ///
    /// ```swift
    /// struct AppearanceView: View {
    ///     @StoredState(.theme, in: Storage.settings) private var theme: Theme
    ///
    ///     var body: some View {
    ///         Picker("Theme", selection: $theme) {
    ///             Text("Light").tag(Theme.light)
    ///             Text("Dark").tag(Theme.dark)
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// It is an ``ObservedValue`` that the view keeps: see there for what reading, setting and a value
    /// that cannot be read mean.
    @MainActor
    @propertyWrapper
    public struct StoredState<Value: Sendable>: DynamicProperty {
        @State private var observed: ObservedValue<Value>

        /// The value of `key` in `dictionary`.
        public init(_ key: Key<Value>, in dictionary: WorkspaceDictionary) where Value: Equatable {
            _observed = State(wrappedValue: ObservedValue(key, in: dictionary))
        }

        /// The value of `key` in `dictionary`; each setting is a write, as its values cannot be
        /// compared.
        @_disfavoredOverload
        public init(_ key: Key<Value>, in dictionary: WorkspaceDictionary) {
            _observed = State(wrappedValue: ObservedValue(key, in: dictionary))
        }

        public var wrappedValue: Value {
            get { observed.value }
            nonmutating set { observed.value = newValue }
        }

        /// For controls: `$theme`.
        public var projectedValue: Binding<Value> {
            Bindable(observed).value
        }

        /// Why the value could not be read or set the last time that either was tried.
        public var failure: RoostError? { observed.failure }
    }
#endif
