import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { attempt } from './step.mjs'

const POLICY = '/usr/sbin/policy-rc.d'
const OURS = '#!/bin/sh\n# Postern: no service starts while its packages are installed.\nexit 101\n'

const removeOurs = () => {
  if (existsSync(POLICY) && readFileSync(POLICY, 'utf8') === OURS) rmSync(POLICY)
}

/**
 * Runs an installation so that the named services, which are new to the machine, neither run afterwards nor start at
 * the next boot. A policy that the machine already has stays as it is.
 */
export async function withoutStartingServices(services, install) {
  removeOurs()
  const setPolicy = !existsSync(POLICY)
  const onSignal = () => {
    removeOurs()
    process.exit(1)
  }
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal)
  try {
    if (setPolicy) writeFileSync(POLICY, OURS, { mode: 0o755 })
    await install()
  } finally {
    removeOurs()
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
  if (services.length === 0 || !existsSync('/usr/bin/systemctl')) return
  const now = existsSync('/run/systemd/system') ? ['--now'] : []
  await attempt('systemctl', ['disable', ...now, ...services], { seconds: 30 })
}
