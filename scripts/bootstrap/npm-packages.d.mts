export function isInstalled(
  lock: object,
  installed: object | undefined,
  isThere?: (path: string) => boolean,
): boolean
export function installNpmPackages(): Promise<void>
