import Link from "next/link";
import { removeGuest } from "./actions";
import { readGuests } from "./guests";

export const dynamic = "force-dynamic";

export default async function Page() {
  const guests = await readGuests();
  return (
    <main>
      <h1>Guests</h1>
      <p>{guests.length} of 9 tables are taken.</p>
      <ul>
        {guests.map(({ name, seats, meal }) => (
          <li key={name}>
            {name}: {seats} seats, {meal}
            <form action={removeGuest.bind(null, name)} style={{ display: "inline" }}>
              <button aria-label={`Remove ${name}`}>Remove</button>
            </form>
          </li>
        ))}
      </ul>
      <Link href="/new">Add a guest</Link>
    </main>
  );
}
