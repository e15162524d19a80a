import { expect, test } from 'vitest'
import { installCommand } from './install-command.ts'

const CONFIG = {
  VPN_HOST: 'postern.example.com',
  TCP_SERVICES_PORT_RANGE: '32660-32760',
  version: '1.0.0',
  publicUrl: 'https://postern.example.com:8443',
  publicHostIsPrivate: false,
  caFingerprint: 'sha256:00',
  agentSha256: 'ab'.repeat(32),
  repositoryUrl: null,
  contactUrl: null,
}

test('the command fetches, checks and only then makes executable', () => {
  expect(installCommand(CONFIG)).toBe(
    'curl -fsSk https://postern.example.com:8443/install/postern -o /usr/local/bin/postern' +
      ` && echo "${'ab'.repeat(32)}  /usr/local/bin/postern" | sha256sum -c` +
      ' && chmod +x /usr/local/bin/postern',
  )
})

test('without an agent there is no command', () => {
  expect(installCommand({ ...CONFIG, agentSha256: null })).toBeNull()
})
