export function hashOf(root: string, paths: readonly string[]): string
export function buildWhatIsStale(): Promise<void>
