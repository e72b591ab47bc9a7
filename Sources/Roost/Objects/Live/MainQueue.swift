import Dispatch
import Foundation

/// Whether the code that runs is the main actor's.
///
/// Its thread does not tell: where a program's `main` is `async`, Dispatch parks the first thread on Linux, and runs the
/// main queue on others.
enum MainQueue {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static var isCurrent: Bool {
        Thread.isMainThread || DispatchQueue.getSpecific(key: key) == true
    }
}
