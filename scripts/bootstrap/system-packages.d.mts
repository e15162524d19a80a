export function hasProgram(name: string, path?: string): boolean
export function installSystemPackages(sets: readonly string[]): Promise<void>
