import { Challenge } from '@postern/contract/edge/desired-state'

/** `<domain>/<token>` → the answer that the certificate authority expects. */
export function renderChallenges(challenges: readonly Challenge[]): Map<string, string> {
  const sound = challenges.filter((challenge) => Challenge.safeParse(challenge).success)
  return new Map(
    sound.map(({ domain, token, thumbprint }) => [`${domain}/${token}`, `${token}.${thumbprint}`]),
  )
}
