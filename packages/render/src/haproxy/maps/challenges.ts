import { Challenge } from '@postern/contract/desired-state'

/** `<domain>/<token>` → what the certificate authority that asks for it must find. */
export function renderChallenges(challenges: readonly Challenge[]): Map<string, string> {
  const sound = challenges.filter((challenge) => Challenge.safeParse(challenge).success)
  return new Map(
    sound.map(({ domain, token, thumbprint }) => [`${domain}/${token}`, `${token}.${thumbprint}`]),
  )
}
