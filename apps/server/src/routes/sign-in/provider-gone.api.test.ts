import { startOidcIssuer } from '@postern/testkit/fakes/oidc-issuer'
import { duringTest, fresh } from '@postern/testkit/shared'
import { expect, test } from 'vitest'
import { ANN, CALLBACK, startSignInLab } from '../../../test/sign-in-lab.ts'

const lab = fresh(startSignInLab)

test.each(['another one', 'none'])(
  'a session that a previous provider vouched for is not renewed once there is %s',
  async (next) => {
    await lab.allow([ANN])
    const browser = lab.browser()
    expect((await lab.signIn(browser)).statusCode).toBe(302)
    const renew = async () => String((await browser.open('/.postern/renew?to=/x')).headers.location)
    lab.time.now += 3_600_000
    expect(await renew()).toMatch(/\/x$/)
    const other = await duringTest(() => startOidcIssuer([CALLBACK]))
    const settings = {
      POSTERN_OIDC_ISSUER: other.url,
      POSTERN_OIDC_CLIENT_ID: other.clientId,
      POSTERN_OIDC_CLIENT_SECRET: other.clientSecret,
    }
    await lab.server.restart({ settings: next === 'none' ? {} : settings })
    lab.time.now += 3_600_000
    expect(await renew()).toBe('/.postern/sign-in?to=%2Fx')
  },
)
