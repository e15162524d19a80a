const ROWS = Array.from({ length: 23 }, (_, row) => 20 + row * 40)

/** A wall of stones, each row shifted by half a stone. */
const WALL = ROWS.map((y, row) => {
  const start = row % 2 === 0 ? 0 : 40
  const joints = Array.from({ length: 10 }, (_, stone) => `M${start + stone * 80} ${y}v40`)
  return `M0 ${y}H720${joints.join('')}`
}).join('')

/** The picture of the sign-in page: a door ajar in the wall, with light behind it. */
export function LoginArt() {
  return (
    <div className="login-art" aria-hidden="true">
      <svg viewBox="0 0 720 900" preserveAspectRatio="xMidYMax slice">
        <title>A door in a wall</title>
        <defs>
          <mask id="wall-gap">
            <rect width="720" height="900" fill="#fff" />
            <path d="M230 900V560a130 130 0 0 1 260 0v340z" fill="#000" />
          </mask>
          <radialGradient id="wall-fade" cx=".5" cy=".72" r=".62">
            <stop offset="0" stopColor="#fff" />
            <stop offset=".55" stopColor="#fff" stopOpacity=".55" />
            <stop offset="1" stopColor="#fff" stopOpacity="0" />
          </radialGradient>
          <mask id="wall-light">
            <rect width="720" height="900" fill="url(#wall-fade)" />
          </mask>
        </defs>
        <g mask="url(#wall-light)">
          <path className="stone" mask="url(#wall-gap)" d={WALL} />
        </g>
        <path className="light" d="M260 900V560a100 100 0 0 1 200 0v340z" />
        <path className="jamb" d="M230 900V560a130 130 0 0 1 260 0v340M260 900V560a100 100 0 0 1 200 0v340" />
        <path className="leaf" d="M260 900V560c0-40 26-80 62-80 40 0 66 40 66 92v306z" />
        <path className="line" d="M303 893V483M346 885V486M260 664l128-9M260 792l128-13" />
        <circle className="ring" cx="374" cy="718" r="6" />
      </svg>
    </div>
  )
}
