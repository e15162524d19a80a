export function isInstalled(lock: object, installed: object | undefined): boolean
export function installNpmPackages(): Promise<void>
