# Fails every second time.
times=$(cat times 2>/dev/null || echo 0)
times=$((times + 1))
echo "$times" > times
if [ $((times % 2)) = 0 ]; then
    echo "this is not my day (time $times)"
    exit 1
fi
