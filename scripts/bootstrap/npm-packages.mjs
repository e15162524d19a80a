import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkOwnNode, OWN_NODE } from './node-sums.mjs'
import { ROOT, say, step } from './step.mjs'

const NODE_PACKAGE = `node_modules/node-linux-${process.arch}`

/**
 * True when what npm recorded after its last install matches package-lock.json, and each package of this repository
 * can be found by its name. Packages for other systems may be missing, but not the Node of this one.
 */
export function isInstalled(lock, installed, isThere = (path) => existsSync(join(ROOT, path))) {
  return Object.entries(lock.packages).every(([path, wanted]) => {
    if (path === '' || !path.includes('node_modules/')) return true
    if (wanted.link) return isThere(path)
    const found = installed?.packages?.[path]
    if (found) return found.version === wanted.version
    return path !== NODE_PACKAGE && Boolean(wanted.optional || wanted.devOptional || wanted.peer)
  })
}

function readJson(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined
}

/** Installs what is missing. When this returns, the Node that came with it has been checked. */
export async function installNpmPackages() {
  await installMissing()
  await checkOwnNode()
}

async function installMissing() {
  const lock = readJson(join(ROOT, 'package-lock.json'))
  const installed = readJson(join(ROOT, 'node_modules/.package-lock.json'))
  if (existsSync(OWN_NODE) && isInstalled(lock, installed)) return
  say('Installing the npm packages …')
  const npm = process.env.npm_execpath
  const [program, args] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []]
  await step('npm ci', program, [...args, 'ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    seconds: 600,
  })
}
