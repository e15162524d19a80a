export function reasonIn(log: string): string
