export function takeFromEnvironment(name: string): string | undefined
