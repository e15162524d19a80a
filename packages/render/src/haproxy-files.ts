import { renderHaproxyConfig } from './haproxy-config.ts'
import type { Digest } from './haproxy-lists.ts'
import { HAPROXY_LUA } from './haproxy-lua.ts'
import type { HaproxyOptions } from './haproxy-options.ts'
import { pageNames, renderPage } from './haproxy-pages.ts'
import { haproxyPaths } from './haproxy-paths.ts'

/** The fixed part: nothing in it depends on a service. */
export interface HaproxyFiles {
  /** Stands in the configuration's description, so that a running HAProxy tells what it was started with. */
  mark: string
  config: string
  /** Path → content of what the configuration loads. */
  others: Map<string, string>
}

export function renderHaproxyFiles(options: HaproxyOptions, digest: Digest): HaproxyFiles {
  const paths = haproxyPaths(options.directory)
  const others = new Map([
    [paths.lua, HAPROXY_LUA],
    ...pageNames.map((name): [string, string] => [paths.page(name), renderPage(name)]),
  ])
  const content = [renderHaproxyConfig(options, ''), ...others.values()].join('\0')
  const mark = `postern-${digest(content)}`
  return { mark, config: renderHaproxyConfig(options, mark), others }
}
